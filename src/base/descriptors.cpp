// SPDX-License-Identifier: Apache-2.0
#include "base/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace terrazzo {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 20;

// 0 where /proc is not mounted.
std::uint64_t count_open() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end; it.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // the list itself has a descriptor
}

}  // namespace

std::uint64_t free_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) { return kMost; }
  std::uint64_t const open = count_open(), most = std::min<std::uint64_t>(limit.rlim_cur, kMost);
  return most - std::min(most, open);
}

}  // namespace terrazzo
