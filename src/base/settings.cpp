// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace terrazzo {

namespace {

constexpr unsigned kMaxThreads = 1024;

// "512", "512M", "4G": bytes. A value nobody can read is an error, not a default: silence would hide a typo.
std::uint64_t parse_size(char const* name, std::string_view value) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  std::string_view const unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
  unsigned shift = 0;
  if (unit == "K" || unit == "k") {
    shift = 10;
  } else if (unit == "M" || unit == "m") {
    shift = 20;
  } else if (unit == "G" || unit == "g") {
    shift = 30;
  } else if (!unit.empty()) {
    shift = 64;
  }
  if (error != std::errc() || shift == 64 || number > (~std::uint64_t{0} >> shift)) {
    throw Error(ErrorKind::usage, text(name, "=", value, " is not a size (write 512M, 4G, or bytes)"));
  }
  return number << shift;
}

std::uint64_t size_from_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? 0 : parse_size(name, value);
}

// Memory this process can hope for: the machine's, the cgroup's, and the address space limit, whichever is least.
std::uint64_t machine_memory_bytes() {
  std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  std::ifstream cgroup("/sys/fs/cgroup/memory.max");
  std::uint64_t limit = 0;
  if (cgroup >> limit && limit > 0) { bytes = std::min(bytes, limit); }
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<std::uint64_t>(bytes, address_space.rlim_cur);
  }
  return bytes;
}

unsigned machine_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) { return static_cast<unsigned>(std::max(1, CPU_COUNT(&set))); }
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

struct State {
  std::mutex mutex;
  Settings settings;
  LogFunction log;
  std::set<std::string, std::less<>> told;

  State() {
    settings.threads = static_cast<unsigned>(std::min<std::uint64_t>(kMaxThreads, size_from_environment("TERRAZZO_THREADS")));
    settings.memory_limit_bytes = size_from_environment("TERRAZZO_MEMORY_LIMIT");
    char const* const cache = std::getenv("TERRAZZO_TILE_CACHE");
    if (cache != nullptr && *cache != '\0') { settings.tile_cache_bytes = parse_size("TERRAZZO_TILE_CACHE", cache); }
  }
};

State& state() {
  static State* const s = new State;  // never destroyed: pool threads may still log at exit
  return *s;
}

}  // namespace

Settings settings() {
  std::lock_guard const lock(state().mutex);
  return state().settings;
}

void set_settings(Settings const& settings) {
  std::lock_guard const lock(state().mutex);
  state().settings = settings;
}

void set_log(LogFunction log) {
  std::lock_guard const lock(state().mutex);
  state().log = std::move(log);
}

void log_once(std::string_view message) {
  LogFunction log;
  {
    std::lock_guard const lock(state().mutex);
    if (!state().log || !state().told.emplace(message).second) { return; }
    log = state().log;
  }
  log(message);
}

unsigned resolve_threads(unsigned requested) {
  if (requested == 0) { requested = settings().threads; }
  if (requested == 0) {
    static unsigned const machine = machine_threads();
    requested = machine;
  }
  return std::min(requested, kMaxThreads);
}

std::uint64_t resolve_memory_limit(std::uint64_t requested) {
  if (requested == 0) { requested = settings().memory_limit_bytes; }
  return requested != 0 ? requested : machine_memory_bytes() / 2;
}

std::uint64_t resolve_tile_cache() {
  std::optional<std::uint64_t> const set = settings().tile_cache_bytes;
  // GDAL keeps decoded blocks in 5 % of the memory; its users expect neighbouring windows to be as cheap here.
  static std::uint64_t const five_percent = machine_memory_bytes() / 20;
  return set.value_or(five_percent);
}

}  // namespace terrazzo
