// SPDX-License-Identifier: Apache-2.0
#include "tile/bit_reverse.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::tile {
namespace {

std::byte reversed_slowly(std::byte value) {
  std::byte result{0};
  for (std::uint32_t bit = 0; bit < 8; ++bit) {
    if ((value & static_cast<std::byte>(1U << bit)) != std::byte{0}) { result |= static_cast<std::byte>(0x80U >> bit); }
  }
  return result;
}

TEST(ReverseBits, ReversesEveryByteValueAtEveryLength) {
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                            std::size_t{256}, std::size_t{263}}) {
    std::vector<std::byte> bytes(count);
    std::vector<std::byte> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<std::byte>(i * 5 + 1);
      expected[i] = reversed_slowly(bytes[i]);
    }
    std::vector<std::byte> out(count);
    reverse_bits(bytes, out);
    EXPECT_EQ(out, expected);
    reverse_bits(bytes, bytes);
    EXPECT_EQ(bytes, expected);
  }
}

TEST(ReverseBits, KeepsBytesInTheirPlaces) { EXPECT_EQ(bits_reversed(0x0100000000000080U), 0x8000000000000001U); }

}  // namespace
}  // namespace terrazzo::tile
