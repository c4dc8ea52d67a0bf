// SPDX-License-Identifier: Apache-2.0
#include "coding/packbits/encode.hpp"

#include "coding/packbits/decode.hpp"
#include "support/bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using testing::bytes_of;

Bytes encode(Bytes const& row) {
  Bytes out(packbits_encode_bound(row.size()));
  out.shrink_to_fit();
  out.resize(packbits_encode_row(row.data(), row.size(), out.data()));
  return out;
}

TEST(PackBitsEncode, PacksTheExampleOfTheSpecification) {
  Bytes const row = bytes_of({0xAA, 0xAA, 0xAA, 0x80, 0x00, 0x2A, 0xAA, 0xAA, 0xAA, 0xAA, 0x80, 0x00,
                              0x2A, 0x22, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA});
  EXPECT_EQ(encode(row),
            bytes_of({0xFE, 0xAA, 0x02, 0x80, 0x00, 0x2A, 0xFD, 0xAA, 0x03, 0x80, 0x00, 0x2A, 0x22, 0xF7, 0xAA}));
}

TEST(PackBitsEncode, SplitsRunsAndLiteralsAt128Bytes) {
  EXPECT_EQ(encode(Bytes(128, std::byte{5})), bytes_of({-127, 5}));
  EXPECT_EQ(encode(Bytes(129, std::byte{5})), bytes_of({-127, 5, 0, 5}));
  EXPECT_EQ(encode(Bytes(130, std::byte{5})), bytes_of({-127, 5, -1, 5}));
  Bytes literals(129);
  for (std::size_t i = 0; i < literals.size(); ++i) { literals[i] = static_cast<std::byte>(i); }
  Bytes const packed = encode(literals);
  ASSERT_EQ(packed.size(), 131u);
  EXPECT_EQ(packed[0], std::byte{127});
  EXPECT_EQ(packed[129], std::byte{0});
}

TEST(PackBitsEncode, DoesNotLeaveLiteralsForAPair) {
  EXPECT_EQ(encode(bytes_of({1, 2, 3, 3, 4})), bytes_of({4, 1, 2, 3, 3, 4}));
}

TEST(PackBitsEncode, NeverWritesTheCountThatMeansNothing) {
  // -128 is skipped by decoders; a run of 129 would be written as it.
  for (std::size_t size = 1; size < 400; ++size) { EXPECT_NE(encode(Bytes(size, std::byte{1}))[0], std::byte{128}); }
}

TEST(PackBitsEncode, GivesNothingForAnEmptyRow) { EXPECT_TRUE(encode({}).empty()); }

TEST(PackBitsEncode, RoundTripsRowsOfEverySizeWithinTheBound) {
  std::mt19937 engine(1);
  for (unsigned const values : {2U, 3U, 6U, 256U}) {
    for (std::size_t size = 1; size < 700; ++size) {
      Bytes row(size);
      std::byte last{};
      for (std::byte& b : row) {
        if (engine() % 3 != 0) { last = static_cast<std::byte>(engine() % values); }
        b = last;
      }
      Bytes const packed = encode(row);  // a sanitizer sees one byte beyond the bound
      ASSERT_LE(packed.size(), packbits_encode_bound(size));
      Bytes back(size);
      tile::TileResult const result = packbits_decode(packed, back);
      ASSERT_EQ(result.status, tile::TileStatus::ok) << size;
      ASSERT_FALSE(result.surplus_input);
      ASSERT_EQ(back, row) << size;
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
