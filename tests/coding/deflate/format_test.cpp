// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace terrazzo::coding {
namespace {

// RFC 1951, 3.2.5: the first length or distance of each symbol, and its extra bits.
constexpr std::array<std::uint32_t, 29> kLengthBase = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint32_t, 29> kLengthExtra = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint32_t, 30> kDistanceBase = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                         33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                         1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint32_t, 19> kRunOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

TEST(DeflateFormat, HasTheLengthsOfTheSpecification) {
  for (std::uint32_t length = 3; length <= 258; ++length) {
    DeflateSymbol const found = length_symbol(length);
    ASSERT_LT(found.symbol, 29u);
    EXPECT_EQ(kLengthBase[found.symbol] + found.extra, length);
    EXPECT_EQ(found.extra_bits, kLengthExtra[found.symbol]);
    EXPECT_EQ(found.extra >> found.extra_bits, 0u);
    EXPECT_EQ(length_extra_bits(kDeflateFirstLength + found.symbol), found.extra_bits);
    EXPECT_EQ(least_length(kDeflateFirstLength + found.symbol), kLengthBase[found.symbol]);
  }
  EXPECT_EQ(length_symbol(258).symbol, 28u);
  for (std::uint32_t literal = 0; literal <= kDeflateEndOfBlock; ++literal) {
    EXPECT_EQ(length_extra_bits(literal), 0u);
  }
}

TEST(DeflateFormat, HasTheDistancesOfTheSpecification) {
  for (std::uint32_t distance = 1; distance <= kDeflateFarthest; ++distance) {
    DeflateSymbol const found = distance_symbol(distance);
    ASSERT_LT(found.symbol, 30u);
    ASSERT_EQ(kDistanceBase[found.symbol] + found.extra, distance);
    ASSERT_EQ(found.extra_bits, found.symbol < 4 ? 0u : found.symbol / 2 - 1);
    ASSERT_EQ(found.extra >> found.extra_bits, 0u);
    ASSERT_EQ(distance_extra_bits(found.symbol), found.extra_bits);
    ASSERT_EQ(least_distance(found.symbol), kDistanceBase[found.symbol]);
  }
}

TEST(DeflateFormat, HasTheOrderOfTheSpecification) {
  for (std::uint32_t i = 0; i < kRunOrder.size(); ++i) { EXPECT_EQ(run_symbol_at(i), kRunOrder[i]); }
  EXPECT_EQ(run_extra_bits(15), 0u);
  EXPECT_EQ(run_extra_bits(16), 2u);
  EXPECT_EQ(run_extra_bits(17), 3u);
  EXPECT_EQ(run_extra_bits(18), 7u);
}

TEST(DeflateFormat, KnowsThePlainHeaderOfZlib) {
  EXPECT_TRUE(is_zlib_header(0x78, 0x9C));
  EXPECT_TRUE(is_zlib_header(0x08, 0x1D));
  EXPECT_FALSE(is_zlib_header(0x78, 0x9D)) << "check bits";
  EXPECT_FALSE(is_zlib_header(0x78, 0xBB)) << "a preset dictionary";
  EXPECT_FALSE(is_zlib_header(0x88, 0x1C)) << "a window of 64 KiB";
  EXPECT_FALSE(is_zlib_header(0x79, 0x18)) << "another method";
}

TEST(DeflateFormat, PutsBitsBehindEachOtherFromAnyPlace) {
  for (std::uint32_t at = 0; at < 70; ++at) {
    std::vector<std::uint32_t> words(6);
    DeflateBits out(words.data(), at);
    std::uint32_t bit = at;
    for (std::uint32_t const width : {1u, 13u, 0u, 32u, 7u, 20u, 5u}) {
      out.put(width == 32 ? 0xFFFFFFFF : (1U << width) - 1U, width);
      bit += width;
    }
    out.finish();
    for (std::uint32_t i = 0; i < 32 * words.size(); ++i) {
      ASSERT_EQ(words[i / 32] >> (i % 32) & 1U, i >= at && i < bit ? 1u : 0u) << "from " << at << ", bit " << i;
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
