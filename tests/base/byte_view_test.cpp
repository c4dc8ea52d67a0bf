// SPDX-License-Identifier: Apache-2.0
#include "base/byte_view.hpp"

#include <gtest/gtest.h>

#include <array>

namespace terrazzo {
namespace {

constexpr std::array<std::byte, 9> kBytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5},
                                             std::byte{6}, std::byte{7}, std::byte{8}, std::byte{9}};

TEST(ByteSwapped, ReversesEveryWidth) {
  EXPECT_EQ(byte_swapped(std::uint8_t{0x12}), 0x12);
  EXPECT_EQ(byte_swapped(std::uint16_t{0x1234}), 0x3412);
  EXPECT_EQ(byte_swapped(std::uint32_t{0x12345678}), 0x78563412u);
  EXPECT_EQ(byte_swapped(std::uint64_t{0x0102030405060708}), 0x0807060504030201u);
}

TEST(ByteView, ReadsBothOrdersAtAnyAlignment) {
  ByteView const little(kBytes, std::endian::little), big(kBytes, std::endian::big);
  EXPECT_EQ(little.get<std::uint16_t>(1), 0x0302);
  EXPECT_EQ(big.get<std::uint16_t>(1), 0x0203);
  EXPECT_EQ(little.get<std::uint32_t>(3), 0x07060504u);
  EXPECT_EQ(big.get<std::uint32_t>(3), 0x04050607u);
  EXPECT_EQ(little.get<std::uint64_t>(1), 0x0908070605040302u);
  EXPECT_EQ(big.get<std::uint64_t>(1), 0x0203040506070809u);
}

TEST(ByteView, AnswersNothingPastTheEnd) {
  ByteView const view(kBytes, std::endian::little);
  EXPECT_EQ(view.get<std::uint8_t>(8), 9);
  EXPECT_EQ(view.get<std::uint8_t>(9), std::nullopt);
  EXPECT_EQ(view.get<std::uint16_t>(8), std::nullopt);
  EXPECT_EQ(view.get<std::uint64_t>(2), std::nullopt);
  EXPECT_EQ(view.get<std::uint32_t>(std::numeric_limits<std::size_t>::max()), std::nullopt);
  EXPECT_EQ(ByteView().get<std::uint8_t>(0), std::nullopt);
}

TEST(ByteView, PartsKeepTheOrderAndStopAtTheEnd) {
  ByteView const part = ByteView(kBytes, std::endian::big).sub(6, 100);
  EXPECT_EQ(part.size(), 3u);
  EXPECT_EQ(part.order(), std::endian::big);
  EXPECT_EQ(part.get<std::uint16_t>(0), 0x0708);
  EXPECT_EQ(ByteView(kBytes, std::endian::big).sub(9, 1).size(), 0u);
  EXPECT_EQ(ByteView(kBytes, std::endian::big).sub(std::numeric_limits<std::size_t>::max(), 5).size(), 0u);
  EXPECT_EQ(ByteView(kBytes, std::endian::little).sub(2, 3).get<std::uint32_t>(0), std::nullopt);
}

}  // namespace
}  // namespace terrazzo
