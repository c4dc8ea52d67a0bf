// SPDX-License-Identifier: Apache-2.0
//
// What the programs that measure a finding share: the check that comes before the times, and medians.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace terrazzo::test {

inline bool any_failed = false;

inline void report(bool passed, std::string const& what) {
  std::printf("%s %s\n", passed ? "PASS" : "FAIL", what.c_str());
  std::fflush(stdout);
  any_failed = any_failed || !passed;
}

// Of so many runs, after one that does not count.
inline double median_ms(int runs, std::function<void()> const& work) {
  std::vector<double> times;
  work();
  for (int i = 0; i < runs; ++i) {
    auto const start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + runs / 2);
  return times[static_cast<std::size_t>(runs / 2)];
}

}  // namespace terrazzo::test
