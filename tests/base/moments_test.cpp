// SPDX-License-Identifier: Apache-2.0
#include "base/moments.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo {
namespace {

template <class T>
IntegerSums<T> sums_of(std::vector<T> const& values) {
  IntegerSums<T> sums;
  for (T v : values) { sums.add(v); }
  return sums;
}

TEST(IntegerSums, GivesMeanAndVarianceOfSmallNumbers) {
  auto const sums = sums_of<std::int32_t>({-1, 2, 5, 6});
  EXPECT_EQ(sums.mean(), 3.0);
  EXPECT_EQ(sums.variance(), 7.5);
  EXPECT_EQ(sums.minimum, -1);
  EXPECT_EQ(sums.maximum, 6);
}

TEST(IntegerSums, RoundsThePivotDownForNegativeMeans) {
  auto const sums = sums_of<std::int32_t>({-3, -4});
  EXPECT_EQ(sums.mean(), -3.5);
  EXPECT_EQ(sums.variance(), 0.25);
}

TEST(IntegerSums, KeepsTheSpreadOfHugeNumbersThatDifferByOne) {
  // Their squares differ by less than a double, or a long double, can tell.
  std::int64_t const huge = std::int64_t{1} << 62;
  auto const sums = sums_of<std::int64_t>({huge, huge + 1, huge, huge + 1});
  EXPECT_EQ(sums.variance(), 0.25);
}

TEST(IntegerSums, HandlesTheWholeRangeOf64Bits) {
  auto const sums =
      sums_of<std::int64_t>({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(sums.mean(), -0.5);
  EXPECT_NEAR(sums.variance() / 0x1p126, 1.0, 1e-15);
  auto const high = sums_of<std::uint64_t>(std::vector<std::uint64_t>(5, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(high.variance(), 0.0);
  EXPECT_EQ(high.squares_high, 4U);  // five times almost 2^128
}

TEST(IntegerSums, MergesToTheSameAsOneSum) {
  auto merged = sums_of<std::uint16_t>({1, 2, 3});
  merged.merge(sums_of<std::uint16_t>({60'000, 4}));
  auto const whole = sums_of<std::uint16_t>({1, 2, 3, 60'000, 4});
  EXPECT_EQ(merged.mean(), whole.mean());
  EXPECT_EQ(merged.variance(), whole.variance());
  EXPECT_EQ(merged.count, 5U);
  EXPECT_EQ(merged.maximum, 60'000);
}

TEST(IntegerSums, CountsRepeatedValues) {
  IntegerSums<std::uint8_t> sums;
  sums.add_times(10, 3);
  sums.add_times(20, 1);
  sums.add_times(99, 0);
  EXPECT_EQ(sums.mean(), 12.5);
  EXPECT_EQ(sums.variance(), 18.75);
  EXPECT_EQ(sums.maximum, 20);
}

TEST(Moments, MergeEqualsTheFormula) {
  Moments a{.count = 2, .mean = 1.5, .m2 = 0.5, .minimum = 1, .maximum = 2, .finite_minimum = 1, .finite_maximum = 2};
  Moments const b{.count = 2, .mean = 6, .m2 = 8, .minimum = 4, .maximum = 8, .finite_minimum = 4, .finite_maximum = 8};
  a.merge(b);  // 1, 2, 4, 8
  EXPECT_EQ(a.count, 4U);
  EXPECT_DOUBLE_EQ(a.mean, 3.75);
  EXPECT_DOUBLE_EQ(a.m2, 28.75);
  EXPECT_EQ(a.minimum, 1);
  EXPECT_EQ(a.maximum, 8);
}

TEST(Moments, MergingNothingChangesNothing) {
  Moments a{.count = 1, .mean = 3, .m2 = 0, .minimum = 3, .maximum = 3, .finite_minimum = 3, .finite_maximum = 3};
  a.merge(Moments{});
  EXPECT_EQ(a.count, 1U);
  EXPECT_EQ(a.minimum, 3);
  Moments empty;
  empty.merge(a);
  EXPECT_EQ(empty.mean, 3);
}

}  // namespace
}  // namespace terrazzo
