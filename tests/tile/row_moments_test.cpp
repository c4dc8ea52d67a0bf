// SPDX-License-Identifier: Apache-2.0
#include "tile/row_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace terrazzo::tile {
namespace {

Moments moments_of(std::vector<double> const& values) {
  RowSums sums;
  for (double const v : values) { sums.add(v); }
  return sums.moments();
}

TEST(RowSums, GiveCountExtremesMeanAndSpread) {
  Moments const found = moments_of({4, 1, 8, 2});
  EXPECT_EQ(found.count, 4U);
  EXPECT_EQ(found.mean, 3.75);
  EXPECT_EQ(found.m2, 28.75);
  EXPECT_EQ(found.minimum, 1);
  EXPECT_EQ(found.maximum, 8);
  EXPECT_EQ(found.finite_minimum, 1);
  EXPECT_EQ(found.finite_maximum, 8);
}

TEST(RowSums, LeaveOutNanEvenAsTheFirstValue) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  Moments const found = moments_of({nan, 3, nan, 5});
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.mean, 4);
  EXPECT_EQ(found.m2, 2);
}

TEST(RowSums, OfNothingMergeToNothing) {
  Moments const found = moments_of({});
  EXPECT_EQ(found.count, 0U);
  Moments all = moments_of({7});
  all.merge(found);
  EXPECT_EQ(all.count, 1U);
  EXPECT_EQ(all.minimum, 7);
}

// The distances are from the first value, so that nothing is lost to the size of the values.
TEST(RowSums, KeepTheSpreadOfLargeValues) {
  Moments const found = moments_of({1e15, 1e15 + 1, 1e15, 1e15 + 1});
  EXPECT_EQ(found.mean, 1e15 + 0.5);
  EXPECT_EQ(found.m2, 1);
}

TEST(RowSums, OfInfinitiesHaveExtremesAndNoMean) {
  double const infinity = std::numeric_limits<double>::infinity();
  Moments const found = moments_of({1, infinity, -infinity});
  EXPECT_EQ(found.count, 3U);
  EXPECT_EQ(found.minimum, -infinity);
  EXPECT_EQ(found.maximum, infinity);
  EXPECT_TRUE(std::isnan(found.mean));
}

// Which of two equal zeros stays is part of the bits.
TEST(RowSums, KeepTheFirstOfTwoZeros) {
  EXPECT_TRUE(std::signbit(moments_of({-0.0, 0.0}).minimum));
  EXPECT_FALSE(std::signbit(moments_of({0.0, -0.0}).minimum));
  EXPECT_TRUE(std::signbit(moments_of({-0.0, 0.0}).maximum));
}

TEST(SampleValues, AreComparedWithNodataAtTheirOwnWidth) {
  EXPECT_TRUE(is_nodata_sample(0.0F, -0.0F));
  EXPECT_TRUE(is_nodata_sample(Half{0x0000}, Half{0x8000}));
  EXPECT_FALSE(is_nodata_sample(Half{0x3C00}, Half{0x3C01}));
  EXPECT_FALSE(is_nodata_sample(Half{0x7E00}, Half{0x7E00}));  // NaN
  EXPECT_FALSE(is_nodata_sample(std::uint64_t{1} << 60, (std::uint64_t{1} << 60) + 1));
  EXPECT_FALSE(is_nodata_sample(16777217, 16777216));  // as floats they would be the same
}

TEST(SampleValues, AreNodataThatLostDigits) {
  EXPECT_TRUE(is_nodata_sample(-3.4028235e38F, -3.40282306e38F));
  EXPECT_TRUE(is_nodata_sample(-9999.001, -9999.0));
  EXPECT_FALSE(is_nodata_sample(-9999.01, -9999.0));
}

TEST(SampleValues, AreDoubles) {
  EXPECT_EQ(value_of_sample(Half{0xC000}), -2.0);
  EXPECT_EQ(value_of_sample(std::int8_t{-5}), -5.0);
}

}  // namespace
}  // namespace terrazzo::tile
