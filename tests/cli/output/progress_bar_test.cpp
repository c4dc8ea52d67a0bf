// SPDX-License-Identifier: Apache-2.0
#include "output/progress_bar.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(ProgressLine, TellsPartRateAndTimeLeft) {
  EXPECT_EQ(progress_line("cog", 0.5, 10, 2'000'000'000),
            "cog [###############...............]  50 %  100 MB/s  10 s left");
}

TEST(ProgressLine, HasNoRateWithoutBytes) {
  EXPECT_EQ(progress_line("read", 0.25, 1, 0), "read [#######.......................]  25 %  3 s left");
}

TEST(ProgressLine, CountsLongTimesInMinutesAndHours) {
  EXPECT_TRUE(progress_line("x", 0.1, 15, 0).ends_with("  2 min 15 s left"));
  EXPECT_TRUE(progress_line("x", 0.1, 1000, 0).ends_with("  2 h 30 min left"));
}

TEST(ProgressLine, TellsSlowAndFastRatesInFittingUnits) {
  EXPECT_NE(progress_line("x", 1, 1, 1'500'000).find("  1.5 MB/s"), std::string::npos);
  EXPECT_NE(progress_line("x", 1, 1, 2'500'000'000).find("  2.5 GB/s"), std::string::npos);
}

TEST(ProgressLine, KnowsNoTimeLeftAtTheStart) {
  EXPECT_EQ(progress_line("x", 0, 1, 0), "x [..............................]   0 %");
}

TEST(ProgressLine, StaysInItsBarWhenMoreWasDoneThanTold) {
  EXPECT_EQ(progress_line("x", 1.5, 1, 0), "x [##############################] 100 %  0 s left");
}

}  // namespace
}  // namespace terrazzo::cli
