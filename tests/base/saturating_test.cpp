// SPDX-License-Identifier: Apache-2.0
#include "base/saturating.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(SaturatingProduct, StaysAtTheLargestNumber) {
  EXPECT_EQ(saturating_product(2, 3u, std::uint16_t{5}), 30u);
  EXPECT_EQ(saturating_product(kMax, 2u, 3u), kMax);
  EXPECT_EQ(saturating_product(kMax, 0u), 0u);
}

TEST(SaturatingSum, StaysAtTheLargestNumber) {
  EXPECT_EQ(saturating_sum(2, 3), 5u);
  EXPECT_EQ(saturating_sum(kMax, 0), kMax);
  EXPECT_EQ(saturating_sum(kMax - 1, 2), kMax);
}

}  // namespace
}  // namespace terrazzo
