// SPDX-License-Identifier: Apache-2.0
//
// Finite state entropy codes of ZSTD for decoders (RFC 8878, 4.1): the shares of a table's cells, their description in
// the stream, and the cells. For one thread of host or device.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"
#include "coding/deflate/inflate_reader.hpp"
#include "coding/zstd/format.hpp"

#include <cstdint>

namespace terrazzo::coding {

// The numbers that the codes of sequences stand for (3.1.1.3.2.1.1), and the shares of the predefined tables
// (3.1.1.3.2.2).
enum class ZstdField : std::uint32_t { literal_length, offset, match_length };

struct ZstdNumber {
  std::uint32_t base, extra_bits;
};

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t zstd_code_count(ZstdField field) noexcept {
  return field == ZstdField::literal_length ? kZstdLiteralLengthCodes
         : field == ZstdField::offset       ? 32
                                            : kZstdMatchLengthCodes;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t zstd_most_table_bits(ZstdField field) noexcept {
  return field == ZstdField::offset ? 8 : 9;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t zstd_plain_table_bits(ZstdField field) noexcept {
  return field == ZstdField::offset ? 5 : 6;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdNumber zstd_number(ZstdField field, std::uint32_t code) noexcept {
  switch (field) {
    case ZstdField::offset: return {1U << code, code};
    case ZstdField::literal_length:
      if (code < 16) { return {code, 0}; }
      if (code < 20) { return {16 + 2 * (code - 16), 1}; }
      if (code < 22) { return {24 + 4 * (code - 20), 2}; }
      if (code < 24) { return {32 + 8 * (code - 22), 3}; }
      if (code == 24) { return {48, 4}; }
      return {1U << (code - 19), code - 19};
    default:
      if (code < 32) { return {kZstdShortestMatch + code, 0}; }
      if (code < 36) { return {35 + 2 * (code - 32), 1}; }
      if (code < 38) { return {43 + 4 * (code - 36), 2}; }
      if (code < 40) { return {51 + 8 * (code - 38), 3}; }
      if (code < 42) { return {67 + 16 * (code - 40), 4}; }
      if (code == 42) { return {99, 5}; }
      return {(1U << (code - 36)) + kZstdShortestMatch, code - 36};
  }
}

// 0: the table does not have the code.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline int zstd_plain_share(ZstdField field, std::uint32_t code) noexcept {
  switch (field) {
    case ZstdField::offset: return code >= 29 ? 0 : code >= 24 ? -1 : code >= 6 && code <= 8 ? 2 : 1;
    case ZstdField::literal_length:
      if (code >= 32) { return -1; }
      if (code == 0) { return 4; }
      if (code == 1 || code == 25) { return 3; }
      return (code >= 13 && code <= 15) || code >= 27 ? 1 : 2;
    default:
      if (code >= 46) { return -1; }
      if (code == 1) { return 4; }
      if (code == 2) { return 3; }
      return code >= 3 && code <= 8 ? 2 : 1;
  }
}

// A cell: the code, and the next cell as a number to which bits of the stream are added.
struct FseCell {
  std::uint8_t code, next_bits;
  std::uint16_t next;
};

// The cells of each code. A share of -1 is one cell at the table's end.
struct FseShares {
  static constexpr std::uint32_t kMostCodes = 53;  // weights of literals have fewer
  std::int16_t of[kMostCodes];
  std::uint16_t numbers[kMostCodes];  // while cells are dealt: of the code's next cell, counted from its share on
  std::uint32_t codes;
  std::uint32_t bits;  // the table has 2^bits cells

  TERRAZZO_HOST_DEVICE void set_plain(ZstdField field) noexcept {
    codes = zstd_code_count(field);
    bits = zstd_plain_table_bits(field);
    for (std::uint32_t code = 0; code < codes; ++code) {
      of[code] = static_cast<std::int16_t>(zstd_plain_share(field, code));
    }
  }

  // Reads a description of the bytes [begin, end): returns its size, 0 if it is invalid.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t read(StreamWords const& words, std::uint32_t begin,
                                                        std::uint32_t end, std::uint32_t most_bits,
                                                        std::uint32_t most_codes) noexcept {
    InflateReader reader(words, begin * 8);
    reader.fill();
    bits = reader.take(4) + 5;
    if (bits > most_bits) { return 0; }
    std::uint32_t left = 1U << bits;
    codes = 0;
    while (left > 0) {
      if (codes >= most_codes) { return 0; }
      reader.fill();
      // Values are 0 to left + 1; the lowest of them are one bit shorter.
      std::uint32_t const width = bits_of(left + 1), half = 1U << (width - 1);
      std::uint32_t const short_values = 2 * half - 2 - left;
      std::uint32_t value = reader.peek() & (2 * half - 1);
      if ((value & (half - 1)) < short_values) {
        value &= half - 1;
        reader.skip(width - 1);
      } else {
        if (value >= half) { value -= short_values; }
        reader.skip(width);
      }
      left -= value == 0 ? 1 : value - 1;  // a share is at most `left`
      of[codes++] = static_cast<std::int16_t>(static_cast<int>(value) - 1);
      if (value != 1) { continue; }
      for (std::uint32_t zeros = 3; zeros == 3;) {
        reader.fill();
        zeros = reader.take(2);
        if (codes + zeros > most_codes) { return 0; }
        for (std::uint32_t i = 0; i < zeros; ++i) { of[codes++] = 0; }
      }
    }
    std::uint32_t const bytes = (reader.position() + 7) / 8 - begin;
    return bytes <= end - begin ? bytes : 0;
  }

  // Fills 2^bits cells.
  TERRAZZO_HOST_DEVICE void deal(FseCell* cells) noexcept {
    std::uint32_t const size = 1U << bits;
    std::uint32_t end = size;
    for (std::uint32_t code = 0; code < codes; ++code) {
      if (of[code] < 0) { cells[--end].code = static_cast<std::uint8_t>(code); }
      numbers[code] = static_cast<std::uint16_t>(of[code] < 0 ? 1 : of[code]);
    }
    std::uint32_t const step = size / 2 + size / 8 + 3, mask = size - 1;
    std::uint32_t cell = 0;
    for (std::uint32_t code = 0; code < codes; ++code) {
      for (int i = 0; i < of[code]; ++i) {
        cells[cell].code = static_cast<std::uint8_t>(code);
        do { cell = (cell + step) & mask; } while (cell >= end);
      }
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      std::uint32_t const number = numbers[cells[i].code]++;
      std::uint32_t const next_bits = bits + 1 - bits_of(number);
      cells[i].next_bits = static_cast<std::uint8_t>(next_bits);
      cells[i].next = static_cast<std::uint16_t>((number << next_bits) - size);
    }
  }
};

}  // namespace terrazzo::coding
