// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/backward_bits.hpp"

#include "coding/zstd/backward_reader.hpp"
#include "support/exact_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace terrazzo::coding {
namespace {

// From every place, in steps of every size. AddressSanitizer sees a read outside.
TEST(BackwardBits, TakesTheBitsOfTheReader) {
  std::mt19937 random(5);
  for (std::size_t skew = 0; skew < 4; ++skew) {
    for (std::size_t size = 1; size < 40; ++size) {
      terrazzo::test::ExactMemory const memory(size, skew);
      for (std::size_t i = 0; i < size; ++i) { memory.data()[i] = static_cast<std::byte>(random() % 255 + 1); }
      StreamWords const words(memory.data(), size);
      auto const begin = static_cast<std::uint32_t>(random() % size), end = static_cast<std::uint32_t>(size);
      BackwardExtent const extent = BackwardExtent::of(words, begin, end);
      ASSERT_TRUE(extent.is_valid);
      for (std::uint32_t from = 0; from <= extent.bits; ++from) {
        BackwardReader reader(words, begin, end);
        ASSERT_EQ(reader.left(), static_cast<std::int32_t>(extent.bits));
        reader.skip(from);
        BackwardBits bits(words, extent, from);
        while (bits.taken() < extent.bits) {
          std::uint32_t const count = std::min<std::uint32_t>(random() % 32, extent.bits - bits.taken());
          bits.fill();
          ASSERT_EQ(bits.peek(count), reader.peek(count)) << "bit " << bits.taken() << " of " << extent.bits;
          ASSERT_EQ(bits.take(count), reader.take(count));
        }
        EXPECT_EQ(reader.left(), 0);
        for (int i = 0; i < 5; ++i) {  // after the end
          bits.fill();
          bits.skip(31);
        }
      }
    }
  }
}

TEST(BackwardBits, RefusesStreamsWithoutAnEnd) {
  std::byte const bytes[] = {std::byte{7}, std::byte{0}};
  StreamWords const words(bytes, 2);
  EXPECT_FALSE(BackwardExtent::of(words, 0, 2).is_valid);
  EXPECT_FALSE(BackwardExtent::of(words, 1, 1).is_valid);
  EXPECT_TRUE(BackwardExtent::of(words, 0, 1).is_valid);
  EXPECT_EQ(BackwardExtent::of(words, 0, 1).bits, 2u);
}

}  // namespace
}  // namespace terrazzo::coding
