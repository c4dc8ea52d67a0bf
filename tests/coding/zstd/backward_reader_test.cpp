// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/backward_reader.hpp"

#include "support/exact_memory.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

TEST(BackwardReader, NeedsABitThatEndsTheStream) {
  terrazzo::test::ExactMemory const memory(2, 0);
  memory.data()[0] = std::byte{1};
  memory.data()[1] = std::byte{0};
  StreamWords const words(memory.data(), 2);
  EXPECT_FALSE(BackwardReader(words, 0, 0).is_valid());
  EXPECT_FALSE(BackwardReader(words, 0, 2).is_valid());
  EXPECT_TRUE(BackwardReader(words, 0, 1).is_valid());
  EXPECT_EQ(BackwardReader(words, 0, 1).left(), 0);
}

TEST(BackwardReader, TakesTheBitsFromTheLastOn) {
  std::mt19937 random(1);
  for (std::uint32_t size = 1; size < 70; ++size) {
    std::uint32_t const begin = size % 5;
    terrazzo::test::ExactMemory const memory(begin + size, size % 4);
    std::vector<bool> bits;  // from the first
    for (std::uint32_t i = 0; i < begin + size; ++i) { memory.data()[i] = static_cast<std::byte>(random() & 0xFF); }
    memory.data()[begin + size - 1] |= std::byte{1};
    for (std::uint32_t i = begin * 8; i < (begin + size) * 8; ++i) {
      bits.push_back((std::to_integer<unsigned>(memory.data()[i / 8]) >> (i % 8) & 1U) != 0);
    }
    while (!bits.back()) { bits.pop_back(); }
    bits.pop_back();
    StreamWords const words(memory.data(), begin + size);
    BackwardReader reader(words, begin, begin + size);
    ASSERT_EQ(reader.left(), static_cast<std::int32_t>(bits.size()));
    while (!bits.empty()) {
      auto const count = static_cast<std::uint32_t>(random() % 32);
      std::uint32_t expected = 0;
      bool const is_short = count > bits.size();
      for (std::uint32_t i = 0; i < count; ++i) {
        expected = expected << 1 | (bits.empty() ? 0U : bits.back() ? 1U : 0U);
        if (!bits.empty()) { bits.pop_back(); }
      }
      ASSERT_EQ(reader.take(count), expected) << size;
      ASSERT_EQ(reader.left() < 0, is_short) << size;
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
