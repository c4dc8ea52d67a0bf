// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace terrazzo {

namespace {

constexpr unsigned kMaxThreads = 1024;

// An invalid value is an error: using the default silently would hide a typo.
std::uint64_t size_of(char const* name, std::string_view value) {
  auto const bytes = parse_size(value);
  if (!bytes) { throw Error(ErrorKind::usage, text(name, "=", value, " is not a size (write 512M, 1.5G, or bytes)")); }
  return *bytes;
}

unsigned threads_from_environment() {
  char const* const value = std::getenv("TERRAZZO_THREADS");
  if (value == nullptr || *value == '\0') { return 0; }
  std::string_view const digits(value);
  unsigned threads = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), threads);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw Error(ErrorKind::usage, text("TERRAZZO_THREADS=", digits, " is not a number of threads"));
  }
  return std::min(threads, kMaxThreads);
}

std::uint64_t size_from_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? 0 : size_of(name, value);
}

double seconds_from_environment(char const* name) {
  char const* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') { return 0; }
  std::string_view const digits(value);
  double seconds = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error != std::errc() || end != digits.data() + digits.size() || !(seconds > 0)) {
    throw Error(ErrorKind::usage, text(name, "=", digits, " is not a number of seconds above 0"));
  }
  return seconds;
}

// The memory available to this process: the least of the machine's, the cgroup's, and the address space limit.
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
  std::vector<std::string> vendor_folders;
  LogFunction log;
  std::set<std::string, std::less<>> told;

  State() {
    settings.threads = threads_from_environment();
    settings.memory_limit_bytes = size_from_environment("TERRAZZO_MEMORY_LIMIT");
    settings.device_budget_bytes = size_from_environment("TERRAZZO_DEVICE_BUDGET");
    settings.device_guard_s = seconds_from_environment("TERRAZZO_DEVICE_GUARD");
    char const* const cache = std::getenv("TERRAZZO_TILE_CACHE");
    if (cache != nullptr && *cache != '\0') { settings.tile_cache_bytes = size_of("TERRAZZO_TILE_CACHE", cache); }
  }
};

State& state() {
  static State* const s = new State;  // never destroyed: pool threads may still log at exit
  return *s;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view const unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  auto const at = unit.size() == 1 ? kUnits.find(static_cast<char>(unit[0] & ~0x20)) : std::string_view::npos;
  if (error != std::errc() || (!unit.empty() && at == std::string_view::npos)) { return std::nullopt; }
  double const bytes = unit.empty() ? number : std::ldexp(number, 10 * (static_cast<int>(at) + 1));
  if (!(bytes >= 0 && bytes < 1e18)) { return std::nullopt; }
  return static_cast<std::uint64_t>(bytes);
}

Machine machine() { return {machine_threads(), machine_memory_bytes()}; }

Settings settings() {
  std::lock_guard const lock(state().mutex);
  return state().settings;
}

void set_settings(Settings const& settings) {
  std::lock_guard const lock(state().mutex);
  state().settings = settings;
}

void set_vendor_folders(std::vector<std::string> folders) {
  std::lock_guard const lock(state().mutex);
  state().vendor_folders = std::move(folders);
}

std::vector<std::string> vendor_folders() {
  std::lock_guard const lock(state().mutex);
  return state().vendor_folders;
}

void set_log(LogFunction log) {
  std::lock_guard const lock(state().mutex);
  state().log = std::move(log);
}

bool is_listed(std::string_view comma_list, std::string_view capability) noexcept {
  while (!comma_list.empty()) {
    auto const comma = std::min(comma_list.find(','), comma_list.size());
    std::string_view word = comma_list.substr(0, comma);
    while (word.starts_with(' ')) { word.remove_prefix(1); }
    while (word.ends_with(' ')) { word.remove_suffix(1); }
    if (word == capability) { return true; }
    comma_list.remove_prefix(std::min(comma + 1, comma_list.size()));
  }
  return false;
}

Engine resolve_engine(Engine requested) {
  if (requested != Engine::automatic) { return requested; }
  char const* const value = std::getenv("TERRAZZO_ENGINE");
  std::string_view const name = value == nullptr ? "" : value;
  if (name.empty() || name == "auto") { return Engine::automatic; }
  if (name == "host") { return Engine::host; }
  if (name == "device") { return Engine::device; }
  throw Error(ErrorKind::usage, text("TERRAZZO_ENGINE=", name, " is none of auto, host, device"));
}

bool is_disabled(std::string_view capability) {
  char const* const set = std::getenv("TERRAZZO_DISABLE");
  return is_listed(set != nullptr ? set : "", capability);
}

bool is_gpu_part_disabled(std::string_view capability) { return is_disabled(capability) || is_disabled("gpu"); }

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
  if (requested != 0) { return requested; }
  // Read once: reading the cgroup's limit takes 15 microseconds, and a small window takes a hundred.
  static std::uint64_t const half = machine_memory_bytes() / 2;
  return half;
}

double resolve_device_guard() {
  // The slowest measured batch took 0.1 s; a shared or an old GPU may take a hundred times as long.
  constexpr double kDefaultS = 30;
  double const set = settings().device_guard_s;
  return set > 0 ? set : kDefaultS;
}

std::uint64_t resolve_tile_cache() {
  std::optional<std::uint64_t> const set = settings().tile_cache_bytes;
  // GDAL keeps decoded blocks in 5 % of the memory; its users expect neighbouring windows to be as fast here.
  static std::uint64_t const five_percent = machine_memory_bytes() / 20;
  return set.value_or(five_percent);
}

}  // namespace terrazzo
