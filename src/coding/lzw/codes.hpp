// SPDX-License-Identifier: Apache-2.0
//
// Converts LZW codes to a TIFF stream: codes are collected for a whole table and packed afterwards, because a code's
// width depends only on its place in the table. For the host's encoders.
#pragma once

#include "coding/lzw/decode.hpp"
#include "tile/byte_swap.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace terrazzo::coding {

// Codes between two Clears. Like libtiff, clear when entry 4094 would be next: entry 4095 is never made, because old
// decoders have no room for it.
inline constexpr std::size_t kLzwCodesPerTable = 4094 - kLzwFirstFree;

// Buckets of a hash table of strings. The bucket of a string is prefix XOR kLzwSpread[byte]: one operation after the
// prefix, which is on the encoder's critical path.
inline constexpr std::size_t kLzwBuckets = 8192;

// Spreads the strings of one prefix over the table. Of 50 factors this one left the fewest buckets too full (float32
// with predictor 3, uint16 with predictor 2); many come close.
inline constexpr std::array<std::uint16_t, 256> kLzwSpread = [] {
  std::array<std::uint16_t, 256> spread{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    spread[byte] = static_cast<std::uint16_t>(byte * 2353844709U >> (32 - std::bit_width(kLzwBuckets - 1)));
  }
  return spread;
}();

// The width of the code at this place of a table: early change, as in the decoder.
[[nodiscard]] constexpr std::uint32_t lzw_width_at(std::size_t place) noexcept {
  return std::max<std::uint32_t>(kLzwMinWidth, static_cast<std::uint32_t>(std::bit_width(kLzwFirstFree + place)));
}

// The codes of a table up to this place, in bits.
[[nodiscard]] constexpr std::size_t lzw_bits_of(std::size_t count) noexcept {
  std::size_t bits = 0;
  for (std::size_t place = 0; place < count; ++place) { bits += lzw_width_at(place); }
  return bits;
}

// Packs codes, most significant bit first. Writes up to 7 bytes beyond the last one; the bound has room for them. A
// copy saves a position to return to.
class LzwCodeWriter {
 public:
  explicit LzwCodeWriter(std::byte* out) noexcept : begin_(out), out_(out) {}

  void put(std::uint32_t code, std::uint32_t width) noexcept { put_bits(code, width); }

  // Writes the codes of one table from its start, in the widths of their places.
  void put_table(std::span<std::uint16_t const> codes) noexcept {
    static_assert(kLzwMinWidth == 9 && kLzwMaxWidth == 12);
    codes = put_codes_of<9>(codes);
    codes = put_codes_of<10>(codes);
    codes = put_codes_of<11>(codes);
    put_codes<12>(codes);
  }

  // Appends the stream of another writer.
  void append(LzwCodeWriter const& other) noexcept {
    std::byte const* from = other.begin_;
    std::uint64_t left = other.bit_count();
    if (bits_ == 0) {
      std::size_t const whole = static_cast<std::size_t>(left / 8);
      std::memcpy(out_, from, whole);
      out_ += whole;
      from += whole;
      left %= 8;
    }
    for (; left >= 64; left -= 64, from += 8, out_ += 8) {
      std::uint64_t const word = from_big_endian(tile::load_unaligned<std::uint64_t>(from));
      tile::store_unaligned(out_, from_big_endian(waiting_ << (64 - bits_) | word >> bits_));
      waiting_ = word;
    }
    for (std::uint32_t count = 0; left > 0; left -= count) {
      count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, 8));
      put_bits(std::to_integer<std::uint64_t>(*from++) >> (8 - count), count);
    }
  }

  [[nodiscard]] std::uint64_t bit_count() const noexcept {
    return static_cast<std::uint64_t>(out_ - begin_) * 8 + bits_;
  }

  // Pads the last byte with zeros. Returns the stream's size.
  [[nodiscard]] std::size_t finish() const noexcept { return static_cast<std::size_t>((bit_count() + 7) / 8); }

 private:
  static std::uint64_t from_big_endian(std::uint64_t value) noexcept {
    if constexpr (std::endian::native == std::endian::little) { value = tile::byte_swapped(value); }
    return value;
  }

  // Writes the next codes of a table that have this width. Returns the other codes.
  template <std::uint32_t Width>
  std::span<std::uint16_t const> put_codes_of(std::span<std::uint16_t const> codes) noexcept {
    constexpr std::size_t kFirst = Width == kLzwMinWidth ? kLzwFirstFree : std::size_t{1} << (Width - 1);
    std::size_t const count = std::min<std::size_t>(codes.size(), (std::size_t{1} << Width) - kFirst);
    put_codes<Width>(codes.first(count));
    return codes.subspan(count);
  }

  template <std::uint32_t Width>
  void put_codes(std::span<std::uint16_t const> codes) noexcept {
    for (; codes.size() >= 4; codes = codes.subspan(4)) {
      std::uint64_t const four = std::uint64_t{codes[0]} << (3 * Width) | std::uint64_t{codes[1]} << (2 * Width) |
                                 std::uint64_t{codes[2]} << Width | codes[3];
      put_bits(four, 4 * Width);
    }
    for (std::uint16_t const code : codes) { put_bits(code, Width); }
  }

  // At most 48 bits at a time; 7 more may be pending.
  void put_bits(std::uint64_t value, std::uint32_t width) noexcept {
    waiting_ = waiting_ << width | value;
    bits_ += width;
    tile::store_unaligned(out_, from_big_endian(waiting_ << (64 - bits_)));
    out_ += bits_ / 8;
    bits_ %= 8;
  }

  std::byte* begin_;
  std::byte* out_;
  std::uint64_t waiting_ = 0;  // its low bits_ bits are pending; older ones lie above them
  std::uint32_t bits_ = 0;
};

}  // namespace terrazzo::coding
