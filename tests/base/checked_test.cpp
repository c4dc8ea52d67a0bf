// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedAdd, GivesTheSumUpToTheLastNumber) {
  EXPECT_EQ(checked_add<std::uint64_t>(kMax - 1, 1), kMax);
  EXPECT_EQ(checked_add<std::uint64_t>(kMax, 0), kMax);
  EXPECT_EQ(checked_add<std::uint8_t>(200, 55), std::uint8_t{255});
}

TEST(CheckedAdd, AnswersNothingInsteadOfWrapping) {
  EXPECT_EQ(checked_add<std::uint64_t>(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_add<std::uint8_t>(200, 56), std::nullopt) << "at the width of the type, not of int";
}

TEST(CheckedMul, GivesTheProductUpToTheLastNumber) {
  EXPECT_EQ(checked_mul<std::uint64_t>(kMax, 1), kMax);
  EXPECT_EQ(checked_mul<std::uint64_t>(kMax, 0), 0u);
  EXPECT_EQ(checked_mul<std::uint64_t>(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1), 0xFFFFFFFF00000000u);
}

TEST(CheckedMul, AnswersNothingInsteadOfWrapping) {
  EXPECT_EQ(checked_mul<std::uint64_t>(std::uint64_t{1} << 32, std::uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul<std::uint16_t>(256, 256), std::nullopt);
}

TEST(CheckedProduct, MultipliesAnyNumberOfFactors) {
  EXPECT_EQ(checked_product(7), 7u);
  EXPECT_EQ(checked_product(2, 3u, std::uint16_t{5}, std::size_t{7}), 210u);
}

TEST(CheckedProduct, RemembersAnOverflowWhateverFollows) {
  EXPECT_EQ(checked_product(kMax, 2u, 0u), std::nullopt) << "a zero behind an overflow does not mend it";
  EXPECT_EQ(checked_product(0, kMax, kMax), 0u) << "a zero before it does";
}

TEST(CeilDiv, RoundsUpAndDoesNotOverflow) {
  EXPECT_EQ(ceil_div(0u, 8u), 0u);
  EXPECT_EQ(ceil_div(1u, 8u), 1u);
  EXPECT_EQ(ceil_div(8u, 8u), 1u);
  EXPECT_EQ(ceil_div(9u, 8u), 2u);
  EXPECT_EQ(ceil_div<std::uint64_t>(kMax, 2), (kMax >> 1) + 1);
  EXPECT_EQ(ceil_div<std::uint64_t>(kMax, kMax), 1u);
}

TEST(RoundUp, GivesTheNextMultipleAndKeepsWhatIsOne) {
  EXPECT_EQ(round_up(0u, 16), 0u);
  EXPECT_EQ(round_up(1u, 16), 16u);
  EXPECT_EQ(round_up(16u, 16), 16u);
  EXPECT_EQ(round_up(17u, 16), 32u);
  EXPECT_EQ(round_up(7u, 1), 7u);
  EXPECT_EQ(round_up(10u, 7), 14u) << "no power of two is needed";
}

TEST(RoundUp, ReachesTheLastMultipleOfTheType) {
  EXPECT_EQ(round_up<std::uint64_t>(kMax - 3, 2), kMax - 3);
  EXPECT_EQ(round_up<std::uint64_t>(kMax - 2, 2), kMax - 1) << "value + unit does not fit, the result does";
  EXPECT_EQ(round_up<std::uint8_t>(201, 50), std::uint8_t{250});
}

TEST(RangeFits, KnowsTheEdges) {
  EXPECT_TRUE(range_fits(0, 0, 0));
  EXPECT_TRUE(range_fits(0, 10, 10));
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_FALSE(range_fits(10, 1, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(0, 11, 10));
}

TEST(RangeFits, IsNotFooledByASumThatWraps) {
  EXPECT_FALSE(range_fits(5, kMax, 10));
  EXPECT_FALSE(range_fits(kMax, kMax, 10));
  EXPECT_TRUE(range_fits(1, kMax - 1, kMax));
}

}  // namespace
}  // namespace terrazzo
