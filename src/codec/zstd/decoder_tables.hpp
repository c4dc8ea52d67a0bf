// SPDX-License-Identifier: Apache-2.0
//
// The tables of our ZSTD decoder (RFC 8878, 4.1 and 4.2), and their descriptions in the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Finite state entropy codes of numbers. A cell has a number, as a base and extra bits of the stream, and the next
// cell, as bits of the stream and a value to add.
struct SequenceCell {
  std::uint16_t next;
  std::uint8_t next_bits;
  std::uint8_t extra_bits;
  std::uint32_t base;
};

struct SequenceTable {
  static constexpr std::uint32_t kMostBits = 9;
  std::array<SequenceCell, 1U << kMostBits> cells;
  std::uint32_t bits;  // there are 2^bits cells; as many bits of the stream give the first
};

struct SequenceTables {
  SequenceTable literal_lengths, offsets, match_lengths;
  bool are_told = false;  // a block may use the tables of the previous block
};

// Reads the modes of a block's tables and their descriptions (3.1.1.3.2.1): returns their total size, 0 if `in` is
// invalid.
[[nodiscard]] std::size_t read_sequence_tables(std::span<std::byte const> in, SequenceTables& tables) noexcept;

// Huffman code of literals: for the next kMostBits bits of a stream, the length of the code at their beginning, and the
// literal in the byte above it.
struct LiteralTable {
  static constexpr std::uint32_t kMostBits = 11;
  std::array<std::uint16_t, 1U << kMostBits> entries;
};

// Returns the size of the code's description, 0 if `in` is invalid.
[[nodiscard]] std::size_t read_literal_table(std::span<std::byte const> in, LiteralTable& table) noexcept;

}  // namespace terrazzo::codec
