// SPDX-License-Identifier: Apache-2.0
#include "coding/packbits/decode.hpp"

#include "coding/decode_exact.hpp"
#include "support/bytes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using testing::bytes_of;

tile::TileResult decode_exact(Bytes const& in, std::size_t out_size, Bytes& out) {
  return test::decode_exact(packbits_decode, in, out_size, out);
}

// The example of Apple's technical note that defines the scheme.
Bytes const kPacked =
    bytes_of({0xFE, 0xAA, 0x02, 0x80, 0x00, 0x2A, 0xFD, 0xAA, 0x03, 0x80, 0x00, 0x2A, 0x22, 0xF7, 0xAA});
Bytes const kUnpacked = bytes_of({0xAA, 0xAA, 0xAA, 0x80, 0x00, 0x2A, 0xAA, 0xAA, 0xAA, 0xAA, 0x80, 0x00,
                                  0x2A, 0x22, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA});

TEST(PackBitsDecode, ReadsTheExampleOfItsDefinition) {
  Bytes out;
  tile::TileResult const result = decode_exact(kPacked, kUnpacked.size(), out);
  EXPECT_EQ(result.status, tile::TileStatus::ok);
  EXPECT_FALSE(result.surplus_input);
  EXPECT_EQ(out, kUnpacked);
}

TEST(PackBitsDecode, SkipsTheNoOperation) {
  Bytes out;
  tile::TileResult const result = decode_exact(bytes_of({0x80, 0x00, 7, 0x80, 0xFF, 9, 0x80, 0x80}), 3, out);
  EXPECT_EQ(result.status, tile::TileStatus::ok);
  EXPECT_FALSE(result.surplus_input);
  EXPECT_EQ(out, bytes_of({7, 9, 9}));
}

TEST(PackBitsDecode, CutsARunAtTheEndAndSaysSo) {
  Bytes out;
  for (std::size_t size = 0; size < kUnpacked.size(); ++size) {
    tile::TileResult const result = decode_exact(kPacked, size, out);
    EXPECT_EQ(result.status, tile::TileStatus::ok);
    EXPECT_TRUE(result.surplus_input) << size;
    EXPECT_TRUE(std::equal(out.begin(), out.end(), kUnpacked.begin()));
    EXPECT_EQ(out.size(), size);
  }
}

TEST(PackBitsDecode, GivesAPrefixOfTheDataForEveryPrefixOfAStream) {
  for (std::size_t size = 0; size < kPacked.size(); ++size) {
    Bytes out;
    tile::TileResult const result =
        decode_exact({kPacked.begin(), kPacked.begin() + static_cast<std::ptrdiff_t>(size)}, kUnpacked.size(), out);
    EXPECT_EQ(result.status, tile::TileStatus::truncated);
    EXPECT_NE(result.reason, nullptr);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), kUnpacked.begin())) << size;
  }
}

TEST(PackBitsDecode, SurvivesRandomBytes) {
  std::mt19937 engine(3);
  for (int round = 0; round < 2000; ++round) {
    Bytes in(engine() % 200);
    for (std::byte& b : in) { b = static_cast<std::byte>(engine() & 0xFFU); }
    Bytes out;
    std::size_t const size = engine() % 4000;
    tile::TileResult const result = decode_exact(in, size, out);
    ASSERT_EQ(result.status == tile::TileStatus::ok, result.bytes_written == size);
  }
}

}  // namespace
}  // namespace terrazzo::coding
