// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace terrazzo::cli {

unsigned machine_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) { return static_cast<unsigned>(std::max(1, CPU_COUNT(&set))); }
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

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

}  // namespace terrazzo::cli
