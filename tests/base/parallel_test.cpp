// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace terrazzo {
namespace {

TEST(ParallelRanges, CoverEveryIndexOnceWithWholeGrainsButTheLast) {
  for (std::uint64_t const count : {1U, 6U, 7U, 8U, 100U}) {
    std::vector<std::atomic<int>> visits(count);
    std::atomic<int> short_ranges{0};
    parallel_ranges(count, 7, 3, [&](std::uint64_t first, std::uint64_t last, unsigned worker) {
      EXPECT_LT(worker, 3U);
      EXPECT_EQ(first % 7, 0U);
      short_ranges += last - first < 7 ? 1 : 0;
      for (std::uint64_t i = first; i < last; ++i) { ++visits[i]; }
    });
    EXPECT_EQ(short_ranges, count % 7 != 0 ? 1 : 0);
    for (auto const& visit : visits) { EXPECT_EQ(visit, 1); }
  }
}

TEST(ParallelRanges, CallNothingForAnEmptyRange) {
  parallel_ranges(0, 4, 2, [](std::uint64_t, std::uint64_t, unsigned) { FAIL(); });
}

TEST(ParallelRanges, TakeNoGrainAndNoThreadsForOne) {
  std::atomic<int> calls{0};
  parallel_ranges(5, 0, 0, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    EXPECT_EQ(last, first + 1);
    ++calls;
  });
  EXPECT_EQ(calls, 5);
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(visits.size(), 4, [&](std::uint64_t i) { ++visits[i]; });
  for (auto const& visit : visits) { EXPECT_EQ(visit, 1); }
}

TEST(ParallelFor, ThrowsWhatABodyThrew) {
  auto const fail_at_three = [](std::uint64_t i) {
    if (i == 3) { throw std::runtime_error("three"); }
  };
  EXPECT_THROW(parallel_for(10, 2, fail_at_three), std::runtime_error);
}

}  // namespace
}  // namespace terrazzo
