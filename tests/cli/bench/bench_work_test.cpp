// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_work.hpp"

#include "support/data_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::cli {
namespace {

Dataset dem() { return open(testing::data_folder() / "dem_deflate_p3.tif"); }  // 101 x 75

TEST(Timing, MedianIsTheMiddleOrBetweenTheMiddles) {
  EXPECT_EQ((Timing{{3, 1, 2}}.median()), 2);
  EXPECT_EQ((Timing{{4, 1, 2, 3}}.median()), 2.5);
  EXPECT_EQ((Timing{{4, 1, 2, 3}}.fastest()), 1);
  EXPECT_EQ((Timing{{4, 1, 2, 3}}.slowest()), 4);
}

TEST(GbPerS, CountsPowersOfTenAndNeverDividesByZero) {
  EXPECT_EQ(gb_per_s(3'000'000'000, 2), 1.5);
  EXPECT_EQ(gb_per_s(1, 0), 0);
}

TEST(RandomWindows, LieInsideAndAreTheSameForASeed) {
  Dataset const dataset = dem();
  ReadPlan const whole = plan(dataset, {.window = Window{10, 5, 60, 40}});
  auto const windows = random_windows(whole, 200, 32, 7);
  ASSERT_EQ(windows.size(), 200U);
  for (Window const& window : windows) {
    EXPECT_EQ(window.width, 32U);
    EXPECT_EQ(window.height, 32U);
    EXPECT_GE(window.column, 10U);
    EXPECT_LE(window.column + window.width, 70U);
    EXPECT_GE(window.row, 5U);
    EXPECT_LE(window.row + window.height, 45U);
  }
  EXPECT_EQ(windows, random_windows(whole, 200, 32, 7));
  EXPECT_NE(windows, random_windows(whole, 200, 32, 8));
}

TEST(RandomWindows, AreCutToTheRaster) {
  auto const windows = random_windows(plan(dem()), 1, 1000, 1);
  EXPECT_EQ(windows.front(), (Window{0, 0, 101, 75}));
}

TEST(HostWork, ReadsTheWindowsAndCountsTheirBytes) {
  Dataset const dataset = dem();
  HostWork work(dataset, {}, {Window{0, 0, 8, 4}, Window{50, 30, 8, 4}});
  EXPECT_EQ(work.bytes(), 2U * 8 * 4 * 4);
  work.run();
  // The last window is in the buffer.
  HostArray const last = read(dataset, {.window = Window{50, 30, 8, 4}});
  EXPECT_TRUE(std::equal(last.bytes().begin(), last.bytes().end(), work.array().bytes().begin()));
}

}  // namespace
}  // namespace terrazzo::cli
