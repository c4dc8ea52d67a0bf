// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/encoder_huffman.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

// 2^limit for a complete code.
std::uint64_t room_taken(std::span<std::uint8_t const> lengths, unsigned limit) {
  std::uint64_t taken = 0;
  for (std::uint8_t const length : lengths) { taken += length == 0 ? 0 : std::uint64_t{1} << (limit - length); }
  return taken;
}

std::vector<std::uint8_t> lengths_of(std::vector<std::uint32_t> const& counts, unsigned limit) {
  std::vector<std::uint8_t> lengths(counts.size());
  huffman_lengths(counts, limit, lengths);
  return lengths;
}

TEST(HuffmanLengths, GivesFrequentSymbolsShortCodes) {
  EXPECT_EQ(lengths_of({1, 1, 2, 4, 0, 8}, 15), (std::vector<std::uint8_t>{4, 4, 3, 2, 0, 1}));
}

TEST(HuffmanLengths, CompletesCodesOfNoneAndOfOneSymbol) {
  EXPECT_EQ(lengths_of({0, 0, 0}, 15), (std::vector<std::uint8_t>{1, 1, 0}));
  EXPECT_EQ(lengths_of({0, 0, 7}, 15), (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(lengths_of({7, 0, 0}, 15), (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST(HuffmanLengths, StaysCompleteAtTheLimit) {
  std::vector<std::uint32_t> fibonacci{1, 1};  // the deepest tree there is
  while (fibonacci.size() < 40) { fibonacci.push_back(fibonacci.back() + fibonacci[fibonacci.size() - 2]); }
  for (unsigned const limit : {6U, 7U, 9U, 14U, 15U}) {
    SCOPED_TRACE(limit);
    std::vector<std::uint8_t> const lengths = lengths_of(fibonacci, limit);
    EXPECT_EQ(room_taken(lengths, limit), std::uint64_t{1} << limit);
    for (std::size_t i = 1; i < lengths.size(); ++i) { EXPECT_LE(lengths[i], lengths[i - 1]); }
    EXPECT_LE(lengths[0], limit);
  }
}

TEST(HuffmanLengths, IsCompleteForRandomCounts) {
  std::mt19937 engine(1);
  auto const random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint32_t> counts(2 + random() % (kMostHuffmanSymbols - 1));
    unsigned const shift = random() % 31;
    for (auto& count : counts) { count = random() % 3 == 0 ? 0 : random() >> (random() % (shift + 1)); }
    unsigned const limit = counts.size() > 128 ? 9 + random() % 7 : 7 + random() % 9;
    EXPECT_EQ(room_taken(lengths_of(counts, limit), limit), std::uint64_t{1} << limit);
  }
}

TEST(HuffmanCodes, AreThoseOfTheSpecification) {
  // RFC 1951, 3.2.2: A to H of lengths 3,3,3,3,3,2,4,4 are 010 011 100 101 110 00 1110 1111; here first bit lowest.
  std::array<std::uint8_t, 8> const lengths = {3, 3, 3, 3, 3, 2, 4, 4};
  std::array<std::uint16_t, 8> codes{};
  huffman_codes(lengths, codes);
  EXPECT_EQ(codes, (std::array<std::uint16_t, 8>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

}  // namespace
}  // namespace terrazzo::codec
