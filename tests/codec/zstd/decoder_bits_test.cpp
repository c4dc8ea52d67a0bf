// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_bits.hpp"
#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

TEST(BackwardBits, BeginBelowTheMarkAndEndWithTheFirstByte) {
  Bytes const bytes = bytes_of({0b1010'0101, 0b0001'0110});
  BackwardBits bits;
  ASSERT_TRUE(bits.open(bytes));
  EXPECT_EQ(bits.left(), 12);
  EXPECT_EQ(bits.take(3), 0b011U);
  EXPECT_EQ(bits.peek(5), 0b01010U);  // the last bit of one byte and four of the other
  EXPECT_EQ(bits.take(5), 0b01010U);
  EXPECT_EQ(bits.take(4), 0b0101U);
  EXPECT_EQ(bits.left(), 0);
}

TEST(BackwardBits, AreZerosPastTheEndAndTellSo) {
  Bytes const bytes = bytes_of({0b0000'0111});
  BackwardBits bits;
  ASSERT_TRUE(bits.open(bytes));
  EXPECT_EQ(bits.peek(11), 0b110'0000'0000U);
  bits.skip(11);
  EXPECT_EQ(bits.left(), -9);
  EXPECT_EQ(bits.peek(32), 0U);
}

TEST(BackwardBits, WantAMarkInTheLastByte) {
  BackwardBits bits;
  EXPECT_FALSE(bits.open({}));
  EXPECT_FALSE(bits.open(bytes_of({1, 0})));
  Bytes const mark = bytes_of({1});
  ASSERT_TRUE(bits.open(mark));
  EXPECT_EQ(bits.left(), 0);
}

}  // namespace
}  // namespace terrazzo::codec::testing
