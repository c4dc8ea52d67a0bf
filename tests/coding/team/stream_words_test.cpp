// SPDX-License-Identifier: Apache-2.0
#include "coding/team/stream_words.hpp"

#include "support/exact_memory.hpp"

#include <gtest/gtest.h>

namespace terrazzo::coding {
namespace {

// AddressSanitizer sees a read outside.
TEST(StreamWords, ReadsZerosOutsideAStreamAtAnyAddress) {
  for (std::size_t skew = 0; skew < 4; ++skew) {
    for (std::size_t size = 0; size < 20; ++size) {
      terrazzo::test::ExactMemory const memory(size, skew);
      for (std::size_t i = 0; i < size; ++i) { memory.data()[i] = static_cast<std::byte>(i + 1); }
      StreamWords const words(memory.data(), size);
      EXPECT_EQ(words.bits(), size * 8);
      for (std::uint32_t byte = 0; byte < 32; ++byte) {
        std::uint32_t const place = words.place_of(byte * 8);
        std::uint32_t const value = words.word(place / 32) >> (place % 32) & 0xFFU;
        EXPECT_EQ(value, byte < size ? byte + 1 : 0) << "byte " << byte << " of " << size << " at " << skew;
        EXPECT_EQ(words.bit_at(place), byte * 8);
      }
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
