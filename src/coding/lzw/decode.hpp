// SPDX-License-Identifier: Apache-2.0
//
// TIFF's LZW (TIFF 6.0, section 13): codes of 9 to 12 bits, most significant bit first, the width changing one code
// early. Files from before 1993 have the least significant bit first and change on time; their first two bytes identify
// them.
//
// The method: every code except the first after a Clear adds the entry "the previous code's string, and one more byte".
// Both are already contiguous in the output, so an entry is only the start of its string, and it ends one byte into the
// string of the next code. The table is thus one array of starts; starts[i + 1] - starts[i] + 1 is the length of entry
// i. Starts are relative to the output's position at the last Clear, which keeps them in 32 bits.
//
// LzwDecoder is the definition, one code at a time, bounds-checked, for host and device; lzw_decode() is the host's
// fast loop around it. Both accept what libtiff accepts: a full table continues without new entries for 1024 codes, and
// a missing EOI is no error once the output is complete.
#pragma once

#include "base/host_device.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::coding {

// Bounds-checked, never allocates. For `truncated` and `corrupt`, the result has the number of valid bytes.
[[nodiscard]] tile::TileResult lzw_decode(std::span<std::byte const> in, std::span<std::byte> out) noexcept;

inline constexpr std::uint32_t kLzwClear = 256;
inline constexpr std::uint32_t kLzwEndOfInformation = 257;
inline constexpr std::uint32_t kLzwFirstFree = 258;
inline constexpr std::uint32_t kLzwMinWidth = 9;
inline constexpr std::uint32_t kLzwMaxWidth = 12;
inline constexpr std::uint32_t kLzwTableSize = 1U << kLzwMaxWidth;
// libtiff's limit: entries that no code can refer to are counted up to here; the next code is an error.
inline constexpr std::uint32_t kLzwCountLimit = kLzwTableSize - 1 + 1024;

enum class LzwBitOrder : std::uint8_t { msb_first, lsb_first };

enum class LzwStep : std::uint8_t {
  more,  // one code done
  output_full,
  input_ended,  // before the output was full, with or without EOI
  code_not_in_table,
  no_clear_first,
  table_overrun,  // kLzwCountLimit codes without a Clear
};

// As in libtiff: a new stream starts with the bits 1 0000 0000, an old one has that Clear reversed.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline LzwBitOrder lzw_bit_order(std::byte const* in,
                                                                    std::size_t in_bytes) noexcept {
  bool const old = in_bytes >= 2 && in[0] == std::byte{0} && (in[1] & std::byte{1}) != std::byte{0};
  return old ? LzwBitOrder::lsb_first : LzwBitOrder::msb_first;
}

// Invariant while `next_code` is not 0: starts[next_code] is the start of the previous code's string and
// starts[next_code + 1] == out_position - base, if these indices are within the table.
struct LzwDecoder {
  std::byte const* in;
  std::size_t in_bytes;
  std::byte* out;
  std::size_t out_bytes;
  std::uint32_t* starts;  // kLzwTableSize + 2 entries; need not be initialised
  LzwBitOrder order = LzwBitOrder::msb_first;

  std::uint64_t bit_position = 0;
  std::size_t out_position = 0;
  std::size_t base = 0;  // out_position at the last Clear
  std::uint32_t width = kLzwMinWidth;
  std::uint32_t next_code = 0;  // the entry that the next code adds; 0 before the first Clear and right after any
  bool cleared = false;
  bool cut_string = false;  // the last string exceeded the output

  // Returns false if fewer bits than a code are left.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool peek(std::uint32_t& code) const noexcept {
    if (bit_position + width > static_cast<std::uint64_t>(in_bytes) * 8) { return false; }
    auto const byte = static_cast<std::size_t>(bit_position >> 3);
    auto const offset = static_cast<std::uint32_t>(bit_position & 7);
    std::uint32_t const b0 = static_cast<std::uint32_t>(in[byte]);
    std::uint32_t const b1 = static_cast<std::uint32_t>(in[byte + 1]);  // a code always spans at least two bytes
    std::uint32_t const b2 = byte + 2 < in_bytes ? static_cast<std::uint32_t>(in[byte + 2]) : 0;
    std::uint32_t const mask = (1U << width) - 1;
    code = order == LzwBitOrder::msb_first ? (((b0 << 16) | (b1 << 8) | b2) >> (24 - width - offset)) & mask
                                           : ((b0 | (b1 << 8) | (b2 << 16)) >> offset) & mask;
    return true;
  }

  TERRAZZO_HOST_DEVICE LzwStep step() noexcept {
    if (out_position == out_bytes) { return LzwStep::output_full; }
    std::uint32_t code = 0;
    if (!peek(code) || code == kLzwEndOfInformation) { return LzwStep::input_ended; }
    if (code == kLzwClear) {
      bit_position += width;
      clear();
      return LzwStep::more;
    }
    if (!cleared) { return LzwStep::no_clear_first; }
    if (next_code == 0) { return first_code(code); }
    if (next_code == kLzwCountLimit) { return LzwStep::table_overrun; }
    if (code > next_code) { return LzwStep::code_not_in_table; }
    bit_position += width;
    write_string(code);
    ++next_code;
    if (next_code < kLzwTableSize) { starts[next_code + 1] = static_cast<std::uint32_t>(out_position - base); }
    widen();
    return LzwStep::more;
  }

 private:
  TERRAZZO_HOST_DEVICE void clear() noexcept {
    cleared = true;
    next_code = 0;
    width = kLzwMinWidth;
    base = out_position;
  }

  TERRAZZO_HOST_DEVICE LzwStep first_code(std::uint32_t code) noexcept {
    if (code >= kLzwClear) { return LzwStep::code_not_in_table; }
    bit_position += width;
    out[out_position++] = static_cast<std::byte>(code);
    next_code = kLzwFirstFree;
    starts[next_code] = 0;
    starts[next_code + 1] = 1;
    return LzwStep::more;
  }

  TERRAZZO_HOST_DEVICE void write_string(std::uint32_t code) noexcept {
    if (code < kLzwClear) {
      out[out_position++] = static_cast<std::byte>(code);
      return;
    }
    std::size_t const start = base + starts[code];
    std::size_t length = starts[code + 1] - starts[code] + std::size_t{1};
    if (length > out_bytes - out_position) {
      length = out_bytes - out_position;
      cut_string = true;
    }
    // Ascending, byte by byte: if code == next_code, the last byte read is the first one written here.
    for (std::size_t i = 0; i < length; ++i) { out[out_position + i] = out[start + i]; }
    out_position += length;
  }

  TERRAZZO_HOST_DEVICE void widen() noexcept {
    std::uint32_t const early = order == LzwBitOrder::msb_first ? 1 : 0;
    if (next_code + early >= (1U << width) && width < kLzwMaxWidth) { ++width; }
  }
};

}  // namespace terrazzo::coding
