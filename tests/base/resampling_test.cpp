// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/resampling.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

TEST(Resampling, NamesAreParsedBack) {
  for (int i = 0; i <= static_cast<int>(Resampling::rms); ++i) {
    auto const method = static_cast<Resampling>(i);
    EXPECT_NE(to_string(method), "unknown");
    EXPECT_EQ(parse_resampling(to_string(method)), method);
  }
}

TEST(Resampling, TakesNamesOfGdalInAnyCase) {
  EXPECT_EQ(parse_resampling("NEAREST"), Resampling::nearest);
  EXPECT_EQ(parse_resampling("near"), Resampling::nearest);
  EXPECT_EQ(parse_resampling("maximum"), Resampling::maximum);
  EXPECT_EQ(parse_resampling("med"), Resampling::median);
  EXPECT_EQ(parse_resampling("CubicSpline"), Resampling::cubic_spline);
  EXPECT_EQ(parse_resampling("cubic_spline"), Resampling::cubic_spline);
}

TEST(Resampling, KnowsNoOtherNames) {
  for (char const* const name : {"", "gauss", "near ", "cubic-", "sum"}) {
    EXPECT_EQ(parse_resampling(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace terrazzo
