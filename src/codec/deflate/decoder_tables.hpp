// SPDX-License-Identifier: Apache-2.0
//
// The codes of a Deflate block (RFC 1951, 3.2.6 and 3.2.7) as decoding tables. An entry is one word, because lookups
// are on the critical path.
#pragma once

#include "codec/deflate/decoder_bits.hpp"
#include "coding/deflate/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// The lengths of a block's codes; 0: the symbol does not occur.
struct DeflateLengths {
  static constexpr std::size_t kSymbols = 288,
                               kDistances = 32;  // as many as the header can describe; some are meaningless

  std::array<std::uint8_t, kSymbols> symbols{};
  std::array<std::uint8_t, kDistances> distances{};

  // Reads the lengths of a block with its own codes, after the three bits of its type. Returns false if they are
  // invalid.
  [[nodiscard]] bool read(ForwardBits& bits) noexcept;
  void set_fixed() noexcept;
};

// Literals, short matches, and a literal with the short match after it take one step. The others are rare where this
// table is used, and take more steps.
struct SymbolEntry {
  static constexpr std::uint32_t kLongestShort = 8;  // longest match that one word copies
  static constexpr std::uint32_t kHasLiteral = 1U << 24, kIsRare = 1U << 30, kHasMatch = 1U << 31;
  static constexpr std::uint32_t kLiteral = 0xFF00, kLength = 0xF0000;
  // The kind of a rare entry; no flag: an invalid code.
  static constexpr std::uint32_t kIsLong = 1U << 27, kIsEnd = 1U << 28, kIsLink = 1U << 29;

  std::uint32_t word = 0;

  [[nodiscard]] std::uint32_t bits() const noexcept { return word & 0xFF; }  // bits that it takes, without extra bits
  [[nodiscard]] std::uint32_t literal() const noexcept { return word >> 8 & 0xFF; }
  [[nodiscard]] std::uint32_t length() const noexcept { return word >> 16 & 0xF; }  // 0: no match
  [[nodiscard]] std::uint32_t literals() const noexcept { return word >> 24 & 1; }
  // For a rare entry: the index of its continuation; or a long match's least length and its extra bits.
  [[nodiscard]] std::uint32_t link() const noexcept { return word >> 8 & 0xFFFF; }
  [[nodiscard]] std::uint32_t least_length() const noexcept { return word >> 8 & 0x1FF; }
  [[nodiscard]] std::uint32_t extra_bits() const noexcept { return word >> 17 & 7; }

  [[nodiscard]] static SymbolEntry of(std::uint32_t symbol, std::uint32_t bits) noexcept;
  [[nodiscard]] static SymbolEntry to(std::size_t place) noexcept;
};

struct DistanceEntry {
  static constexpr std::uint32_t kIsRare = 1U << 31;

  std::uint32_t word = kIsRare;  // without other flags: an invalid code

  [[nodiscard]] std::uint32_t bits() const noexcept { return word & 0xFF; }  // bits that it takes, with extra bits
  [[nodiscard]] std::uint32_t code_bits() const noexcept { return word >> 8 & 0x3F; }
  [[nodiscard]] std::uint32_t least() const noexcept { return word >> 16; }
  [[nodiscard]] std::uint32_t link() const noexcept { return word >> 8 & 0xFFFF; }  // 0: none

  [[nodiscard]] static DistanceEntry of(std::uint32_t symbol, std::uint32_t bits) noexcept;
  [[nodiscard]] static DistanceEntry to(std::size_t place) noexcept;
};

// Entries for the next kBits bits, followed by groups of 2^kMoreBits entries for longer codes.
template <class Entry, std::uint32_t kBits, std::size_t kSymbols>
struct DeflateTable {
  static constexpr std::uint32_t kFirstBits = kBits;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  static constexpr std::uint32_t kMoreBits = coding::kDeflateMostBits - kBits;
  // At least two codes share a beginning.
  std::array<Entry, kEntries + (kSymbols / 2 << kMoreBits)> entries;

  [[nodiscard]] Entry first(std::uint64_t bits) const noexcept { return entries[bits & (kEntries - 1)]; }
  [[nodiscard]] Entry second(Entry link, std::uint64_t bits) const noexcept {
    return entries[link.link() + (bits >> kBits & ((1U << kMoreBits) - 1))];
  }
};

struct DeflateTables {
  // Small enough that the tables of two streams and their history fit in the L1 cache.
  DeflateTable<SymbolEntry, 11, DeflateLengths::kSymbols> symbols;
  DeflateTable<DistanceEntry, 9, DeflateLengths::kDistances> distances;

  // Returns false if a code is incomplete: libdeflate decides which of those are accepted.
  [[nodiscard]] bool make(DeflateLengths const& lengths) noexcept;
};

}  // namespace terrazzo::codec
