// SPDX-License-Identifier: Apache-2.0
//
// The tables that our ZSTD decoder walks through (RFC 8878, 4.1 and 4.2), and their descriptions in the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Finite state entropy codes of numbers. A cell has a number, as a base and bits of the stream to add, and the way to
// the next cell: bits of the stream, and what to add to them.
struct SequenceCell {
  std::uint16_t next;
  std::uint8_t next_bits;
  std::uint8_t extra_bits;
  std::uint32_t base;
};

struct SequenceTable {
  static constexpr std::uint32_t kMostBits = 9;
  std::array<SequenceCell, 1U << kMostBits> cells;
  std::uint32_t bits;  // there are 2^bits cells; so many bits of the stream tell the first
};

struct SequenceTables {
  SequenceTable literal_lengths, offsets, match_lengths;
  bool are_told = false;  // a block may use those of the block before
};

// How the tables of a block are told, and what tells them (3.1.1.3.2.1): returns the bytes of both, 0 when `in` does
// not begin with such.
[[nodiscard]] std::size_t read_sequence_tables(std::span<std::byte const> in, SequenceTables& tables) noexcept;

// Huffman code of literals: for the next kMostBits bits of a stream, the length of the code that they begin with, and
// the literal in the byte above it.
struct LiteralTable {
  static constexpr std::uint32_t kMostBits = 11;
  std::array<std::uint16_t, 1U << kMostBits> entries;
};

// Returns the bytes that describe the code, 0 when `in` does not begin with such.
[[nodiscard]] std::size_t read_literal_table(std::span<std::byte const> in, LiteralTable& table) noexcept;

}  // namespace terrazzo::codec
