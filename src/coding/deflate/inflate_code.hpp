// SPDX-License-Identifier: Apache-2.0
//
// A Huffman code of Deflate (RFC 1951, 3.2.2), decoded by many threads that share its tables, on host and device. A
// team builds the tables (inflate.hpp explains teams).
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t reversed_bits(std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  return __brev(value);
#else
  value = (value >> 1 & 0x55555555U) | (value & 0x55555555U) << 1;
  value = (value >> 2 & 0x33333333U) | (value & 0x33333333U) << 2;
  value = (value >> 4 & 0x0F0F0F0FU) | (value & 0x0F0F0F0FU) << 4;
  return __builtin_bswap32(value);
#endif
}

// The meaning of a symbol and the length of its code: 4 bits of code length, 4 bits that count the extra bits, 16 bits
// of value, and the kind. Kind `none` with a length is a symbol that no stream may use; the entry 0 is no symbol.
namespace inflate_entry {

enum Kind : std::uint32_t { none, literal, match, end_of_block };

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t make(Kind kind, std::uint32_t value,
                                                                std::uint32_t extra_bits, std::uint32_t bits) noexcept {
  return static_cast<std::uint32_t>(kind) << 24 | value << 8 | extra_bits << 4 | bits;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t bits(std::uint32_t entry) noexcept { return entry & 15; }
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t extra_bits(std::uint32_t entry) noexcept {
  return entry >> 4 & 15;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t value(std::uint32_t entry) noexcept {
  return entry >> 8 & 0xFFFF;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr Kind kind(std::uint32_t entry) noexcept {
  return static_cast<Kind>(entry >> 24);
}

// Of the code of literals and lengths: the value is a byte or the least length.
struct OfSymbol {
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t of(std::uint32_t symbol, std::uint32_t bits) noexcept {
    if (symbol < kDeflateEndOfBlock) { return make(literal, symbol, 0, bits); }
    if (symbol == kDeflateEndOfBlock) { return make(end_of_block, 0, 0, bits); }
    if (symbol >= kDeflateLiteralSymbols) { return make(none, 0, 0, bits); }
    return make(match, least_length(symbol), length_extra_bits(symbol), bits);
  }
};

// Of the code of distances: the value is the least distance.
struct OfDistance {
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t of(std::uint32_t symbol, std::uint32_t bits) noexcept {
    if (symbol >= kDeflateDistanceSymbols) { return make(none, 0, 0, bits); }
    return make(match, least_distance(symbol), distance_extra_bits(symbol), bits);
  }
};

// Of the code of code lengths: the value is the symbol.
struct OfRun {
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint32_t of(std::uint32_t symbol, std::uint32_t bits) noexcept {
    return make(literal, symbol, run_extra_bits(symbol), bits);
  }
};

}  // namespace inflate_entry

// The extent to which the codes of a set use all bit patterns.
enum class CodeSpace : std::uint8_t {
  empty,  // no symbols
  single,  // one symbol of one bit: half of the patterns are unused
  complete,
  other,  // no code, or one that zlib refuses
};

// Codes of up to kRootBits bits are found by one load. Longer ones are compared with the limits of each length.
template <class Entry, std::uint32_t kMostSymbols, std::uint32_t kRootBits>
struct InflateCode {
  static constexpr std::uint32_t kSymbols = kMostSymbols;
  static constexpr std::uint32_t kRoots = 1U << kRootBits;

  std::uint32_t roots[kRoots];  // by the next bits of the stream; 0: a longer code, or none
  std::uint16_t by_code[kSymbols];  // symbols in the order of their codes
  std::uint32_t counts[kDeflateMostBits + 1];  // symbols by the length of their code
  std::uint32_t first_codes[kDeflateMostBits + 1];  // by length
  std::uint32_t first_places[kDeflateMostBits + 1];  // in by_code
  CodeSpace space;

  // The entry of the code that `bits` begin with; 0 if there is none.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t find(std::uint32_t bits) const noexcept {
    std::uint32_t const root = roots[bits & (kRoots - 1)];
    return root != 0 ? root : find_long(bits);
  }

  // Builds the tables from the lengths of the codes, kSymbols of them; 0: no code. If space is `other`, the tables are
  // unusable.
  template <class Team>
  TERRAZZO_HOST_DEVICE void build(Team const& team, std::uint8_t const* lengths) noexcept {
    team.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i <= kDeflateMostBits; i += Team::kLanes) { counts[i] = 0; }
      for (std::uint32_t i = lane; i < kRoots; i += Team::kLanes) { roots[i] = 0; }
    });
    team.each([&](std::uint32_t lane) {
      for (std::uint32_t symbol = lane; symbol < kSymbols; symbol += Team::kLanes) {
        if (lengths[symbol] != 0) { together::add(counts[lengths[symbol]], 1); }
      }
    });
    team.each([&](std::uint32_t lane) {
      if (lane == 0) { place_lengths(); }
    });
    if (team.read(space) == CodeSpace::other) { return; }
    team.each([&](std::uint32_t lane) {
      for (std::uint32_t symbol = lane; symbol < kSymbols; symbol += Team::kLanes) { place_symbol(symbol, lengths); }
    });
  }

 private:
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t find_long(std::uint32_t bits) const noexcept {
    std::uint32_t const reversed = reversed_bits(bits);
    for (std::uint32_t length = kRootBits + 1; length <= kDeflateMostBits; ++length) {
      // A code that is too small belongs to a shorter length, which was compared before.
      std::uint32_t const place = (reversed >> (32 - length)) - first_codes[length];
      if (place < counts[length]) { return Entry::of(by_code[first_places[length] + place], length); }
    }
    return 0;
  }

  TERRAZZO_HOST_DEVICE void place_lengths() noexcept {
    std::uint32_t code = 0, place = 0;
    std::uint32_t taken = 0;  // of the patterns of kDeflateMostBits bits
    for (std::uint32_t length = 1; length <= kDeflateMostBits; ++length) {
      code <<= 1;
      first_codes[length] = code;
      first_places[length] = place;
      code += counts[length];
      place += counts[length];
      taken += counts[length] << (kDeflateMostBits - length);
    }
    space = taken == 1U << kDeflateMostBits ? CodeSpace::complete
            : place == 0                    ? CodeSpace::empty
            : place == 1 && counts[1] == 1  ? CodeSpace::single
                                            : CodeSpace::other;
  }

  TERRAZZO_HOST_DEVICE void place_symbol(std::uint32_t symbol, std::uint8_t const* lengths) noexcept {
    std::uint32_t const length = lengths[symbol];
    if (length == 0) { return; }
    std::uint32_t rank = 0;  // among the symbols of the same length
    for (std::uint32_t other = 0; other < symbol; ++other) { rank += lengths[other] == length ? 1 : 0; }
    by_code[first_places[length] + rank] = static_cast<std::uint16_t>(symbol);
    if (length > kRootBits) { return; }
    std::uint32_t const entry = Entry::of(symbol, length);
    std::uint32_t const begin = reversed_bits(first_codes[length] + rank) >> (32 - length);
    for (std::uint32_t i = begin; i < kRoots; i += 1U << length) { roots[i] = entry; }
  }
};

using InflateSymbols = InflateCode<inflate_entry::OfSymbol, 288, 10>;
using InflateDistances = InflateCode<inflate_entry::OfDistance, 32, 8>;
using InflateRuns = InflateCode<inflate_entry::OfRun, kDeflateRunSymbols, kDeflateMostRunBits>;

}  // namespace terrazzo::coding
