// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/decoder_bits.hpp"

#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

TEST(ForwardBits, BeginWithTheLowestOfTheFirstByte) {
  Bytes const bytes = bytes_of({0b1010'0110, 0b0001'0111, 0xAB});
  ForwardBits bits(bytes);
  EXPECT_EQ(bits.at_bit(), 0u);
  EXPECT_EQ(bits.take(3), 0b110U);
  EXPECT_EQ(bits.take(7), 0b11'10100U);  // five of one byte and two of the other
  EXPECT_EQ(bits.take(0), 0U);
  EXPECT_EQ(bits.at_bit(), 10u);
  EXPECT_EQ(bits.peek(), 0b10'1010'1100'0101U);  // what is left, and zeros
  EXPECT_EQ(bits.at_bit(), 10u);
  bits.skip(6);
  EXPECT_EQ(bits.take(8), 0xABU);
  EXPECT_FALSE(bits.is_past_end());
}

TEST(ForwardBits, MayBeginAnywhere) {
  Bytes const bytes = bytes_of({0xFF, 0b1011'0000});
  ForwardBits bits(bytes, 12);
  EXPECT_EQ(bits.take(4), 0b1011U);
  EXPECT_FALSE(bits.is_past_end());
}

// At every place of a stream, whatever the rest of it: as many as promised.
TEST(ForwardBits, AreSeenAsManyAsPromised) {
  Bytes const bytes(20, std::byte{0xFF});
  constexpr std::uint64_t kAll = (std::uint64_t{1} << ForwardBits::kMostBits) - 1;
  for (std::uint64_t at = 0; at <= 8 * bytes.size(); ++at) {
    std::uint64_t const left = 8 * bytes.size() - at;
    std::uint64_t const wanted = left < ForwardBits::kMostBits ? (std::uint64_t{1} << left) - 1 : kAll;
    EXPECT_EQ(ForwardBits(bytes, at).peek() & kAll, wanted) << at;
  }
}

TEST(ForwardBits, TakeAsManyAsAWordHas) {
  Bytes const bytes = bytes_of({0x01, 0x23, 0x45, 0x67, 0x89});
  ForwardBits bits(bytes);
  EXPECT_EQ(bits.take(32), 0x67452301U);
  EXPECT_EQ(ForwardBits(bytes, 7).take(32), (0x6745'2301U >> 7 | 0x89U << 25));
}

TEST(ForwardBits, AreZerosPastTheEndAndTellSo) {
  Bytes const bytes = bytes_of({0xFF});
  ForwardBits bits(bytes);
  EXPECT_EQ(bits.take(8), 0xFFU);
  EXPECT_FALSE(bits.is_past_end());  // all of them and no more
  EXPECT_EQ(bits.take(1), 0U);
  EXPECT_TRUE(bits.is_past_end());
  bits.skip(1'000'000);
  EXPECT_EQ(bits.peek(), 0U);
  EXPECT_EQ(bits.take(16), 0U);
  EXPECT_TRUE(bits.is_past_end());
}

TEST(ForwardBits, OfNothingAreZeros) {
  ForwardBits bits;
  EXPECT_FALSE(bits.is_past_end());
  EXPECT_EQ(bits.peek(), 0U);
  EXPECT_EQ(bits.take(5), 0U);
  EXPECT_TRUE(bits.is_past_end());
}

TEST(ForwardBits, SkipToTheNextByteUnlessTheyAreThere) {
  Bytes const bytes = bytes_of({1, 2, 3});
  ForwardBits bits(bytes);
  bits.skip_to_byte();
  EXPECT_EQ(bits.at_bit(), 0u);
  bits.skip(1);
  bits.skip_to_byte();
  EXPECT_EQ(bits.at_bit(), 8u);
  bits.skip_to_byte();
  EXPECT_EQ(bits.take(8), 2U);
  bits.skip(7);
  bits.skip_to_byte();
  EXPECT_EQ(bits.at_bit(), 24u);
}

}  // namespace
}  // namespace terrazzo::codec::testing
