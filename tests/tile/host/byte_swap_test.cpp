// SPDX-License-Identifier: Apache-2.0
#include "tile/byte_swap.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace terrazzo::tile {
namespace {

TEST(ByteSwapped, ReversesTheBytesOfAValue) {
  static_assert(byte_swapped(std::uint8_t{0x12}) == 0x12);
  static_assert(byte_swapped(std::uint16_t{0x1234}) == 0x3412);
  static_assert(byte_swapped(std::uint32_t{0x12345678}) == 0x78563412U);
  EXPECT_EQ(byte_swapped(std::uint64_t{0x0102030405060708}), 0x0807060504030201U);
}

class SwapSamples : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(SwapSamples, ReversesEverySampleOfEveryCount) {
  std::size_t const bytes = GetParam();
  for (std::size_t count = 0; count < 70; ++count) {
    // Exact blocks, so that a sanitizer sees any access outside.
    std::unique_ptr<std::byte[]> const in(new std::byte[count * bytes]);
    std::unique_ptr<std::byte[]> const out(new std::byte[count * bytes]);
    std::vector<std::byte> expected(count * bytes);
    for (std::size_t i = 0; i < count * bytes; ++i) {
      in[i] = static_cast<std::byte>(i * 7 + 3);
      expected[i / bytes * bytes + (bytes - 1 - i % bytes)] = in[i];
    }
    swap_samples(in.get(), out.get(), count, GetParam());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.get())) << count;
    swap_samples(in.get(), count, GetParam());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), in.get())) << count << " in place";
  }
}

INSTANTIATE_TEST_SUITE_P(SampleSize, SwapSamples, ::testing::Values(1U, 2U, 3U, 4U, 8U));

}  // namespace
}  // namespace terrazzo::tile
