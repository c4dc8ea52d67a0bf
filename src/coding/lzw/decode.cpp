// SPDX-License-Identifier: Apache-2.0
//
// The host's LZW decoder. Rasters after a predictor have short strings, 1.5 to 3 bytes, so the cost is per code, and
// the largest cost is an unpredictable branch. Hence:
//   - four codes at a time from one 8-byte load; the bit position advances by a known amount for any codes
//   - literal or string is a conditional move of the source, not a branch
//   - every string is copied as 16 bytes; only longer ones branch
//   - bounds of input, output and table are checked once for four codes, with room for four strings of 16 bytes
// LzwDecoder::step() handles all rare cases (Clear, EOI, errors, a change of width, the ends of the buffers).
#include "coding/lzw/decode.hpp"

#include "tile/byte_swap.hpp"

#include <bit>
#include <cstring>

namespace terrazzo::coding {
namespace {

inline constexpr std::size_t kChunk = 16;  // bytes of one unchecked copy
inline constexpr std::uint32_t kCodesAtOnce = 4;  // 4 * 12 bits fit in the 57 bits of an 8-byte load at any bit offset
inline constexpr std::size_t kRoom = (kCodesAtOnce + 1) * kChunk;  // bytes that a group writes without checks

// All bytes in order, with room for an unchecked copy after the last.
struct Literals {
  std::byte bytes[256 + kChunk];
};

constexpr Literals make_literals() noexcept {
  Literals literals{};
  for (std::size_t i = 0; i < 256; ++i) { literals.bytes[i] = static_cast<std::byte>(i); }
  return literals;
}

alignas(64) constexpr Literals kLiterals = make_literals();

// starts[] of the codes below kLzwFirstFree, so that the fast loop needs no branch for them. A literal starts at itself
// in kLiterals and gets length 2, which the loop corrects; Clear and EOI get a length beyond any string.
void prepare_reserved_codes(std::uint32_t* starts) noexcept {
  for (std::uint32_t code = 0; code <= kLzwClear; ++code) { starts[code] = code; }
  starts[kLzwEndOfInformation] = 1U << 30;
}

inline void copy_chunk(std::byte* to, std::byte const* from) noexcept {
  struct Chunk {
    std::uint64_t words[2];
  };
  Chunk chunk;
  std::memcpy(&chunk, from, kChunk);
  std::memcpy(to, &chunk, kChunk);
}

// Strings never overlap in their first `length` bytes; the next string overwrites the bytes copied after them.
inline void copy_string(std::byte* to, std::byte const* from, std::size_t length) noexcept {
  for (std::size_t done = 0; done < length; done += kChunk) { copy_chunk(to + done, from + done); }
}

// Decodes groups of codes of one width until a special case occurs. A template: with a constant width, the loop's state
// fits in registers. REQUIRES: a code came after the last Clear; 8 bytes of input.
template <std::uint32_t Width>
[[gnu::noinline]] void decode_groups(LzwDecoder& decoder) noexcept {
  // The entry at which the width changes; step() handles the code that reaches it.
  constexpr std::size_t kNextLimit = (std::size_t{1} << Width) - 1;
  std::byte const* const in = decoder.in;
  std::uint32_t* const starts = decoder.starts;
  std::byte* const base = decoder.out + decoder.base;
  std::size_t const room = decoder.out_bytes - decoder.base;
  std::uint64_t const last_load_bits = (std::uint64_t{decoder.in_bytes} - 8) * 8 + 7;
  // The distance from a string to a literal. They are unrelated objects, hence integers and not pointers.
  auto const base_address = reinterpret_cast<std::uintptr_t>(base);
  std::uintptr_t const to_literals = reinterpret_cast<std::uintptr_t>(kLiterals.bytes) - base_address;

  std::size_t position = decoder.out_position - decoder.base;
  std::uint64_t bits = decoder.bit_position;
  std::size_t next = decoder.next_code;
  std::size_t done = 0;  // codes of the current group
  while (next + kCodesAtOnce < kNextLimit && bits <= last_load_bits && position + kRoom <= room) {
    std::uint64_t window = tile::load_unaligned<std::uint64_t>(in + (bits >> 3));
    if constexpr (std::endian::native == std::endian::little) { window = tile::byte_swapped(window); }
    window <<= bits & 7;
#pragma GCC unroll 4
    for (done = 0; done < kCodesAtOnce; ++done) {
      std::uint64_t const code = window >> (64 - Width);
      window <<= Width;
      std::size_t const start = starts[code];
      // All ones for a literal: as a mask it selects the source, as -1 it corrects the length.
      std::uintptr_t const literal = std::uintptr_t{0} - static_cast<std::uintptr_t>(code < kLzwClear);
      std::uint32_t const length_less_one =
          starts[code + 1] - static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(literal);
      // The first test is for codes that refer to an entry of this group, or to none.
      if (code >= next || length_less_one >= kChunk) [[unlikely]] {
        if (code > next + done || code - kLzwClear < 2 || position + length_less_one + 1 + kRoom > room) { goto leave; }
        // An entry whose last byte is not written yet ends with its own first byte.
        std::byte const first = base[start];
        copy_string(base + position, base + start, length_less_one + std::size_t{1});
        if (code == next + done) { base[position + length_less_one] = first; }
      } else {
        copy_chunk(base + position, reinterpret_cast<std::byte const*>(base_address + start + (literal & to_literals)));
      }
      position += length_less_one + std::size_t{1};
      starts[next + done + 2] = static_cast<std::uint32_t>(position);
    }
    bits += kCodesAtOnce * Width;
    next += kCodesAtOnce;
    done = 0;
  }
leave:
  decoder.bit_position = bits + done * Width;
  decoder.next_code = static_cast<std::uint32_t>(next + done);
  decoder.out_position = decoder.base + position;
}

void decode_groups(LzwDecoder& decoder) noexcept {
  switch (decoder.width) {
    case 9: return decode_groups<9>(decoder);
    case 10: return decode_groups<10>(decoder);
    case 11: return decode_groups<11>(decoder);
    default: return decode_groups<12>(decoder);
  }
}

// After the last output byte, the stream may end or have EOI, or Clear and EOI, and less than a byte of padding.
bool has_surplus(LzwDecoder& decoder) noexcept {
  std::uint32_t code = 0;
  if (decoder.cut_string) { return true; }
  if (!decoder.peek(code)) { return false; }
  decoder.bit_position += decoder.width;
  if (code == kLzwClear) {
    decoder.width = kLzwMinWidth;
    if (!decoder.peek(code)) { return false; }
    decoder.bit_position += decoder.width;
  }
  return code != kLzwEndOfInformation || decoder.bit_position + 8 <= std::uint64_t{decoder.in_bytes} * 8;
}

}  // namespace

tile::TileResult lzw_decode(std::span<std::byte const> in, std::span<std::byte> out) noexcept {
  std::uint32_t starts[kLzwTableSize + 2] = {};  // initialised: the fast loop reads entries before it checks them
  prepare_reserved_codes(starts);
  LzwDecoder decoder{.in = in.data(),
                     .in_bytes = in.size(),
                     .out = out.data(),
                     .out_bytes = out.size(),
                     .starts = starts,
                     .order = lzw_bit_order(in.data(), in.size())};
  bool const fast = decoder.order == LzwBitOrder::msb_first && in.size() >= 8;
  for (;;) {
    if (fast && decoder.next_code != 0) { decode_groups(decoder); }
    LzwStep const step = decoder.step();
    switch (step) {
      case LzwStep::more: break;
      case LzwStep::output_full:
        return {.status = tile::TileStatus::ok,
                .bytes_written = decoder.out_position,
                .surplus_input = has_surplus(decoder)};
      case LzwStep::input_ended:
        return {.status = tile::TileStatus::truncated,
                .bytes_written = decoder.out_position,
                .reason = "LZW stream ends before the tile is complete"};
      case LzwStep::code_not_in_table:
        return {.status = tile::TileStatus::corrupt,
                .bytes_written = decoder.out_position,
                .reason = "LZW code that is not in the table"};
      case LzwStep::no_clear_first:
        return {.status = tile::TileStatus::corrupt,
                .bytes_written = decoder.out_position,
                .reason = "LZW stream does not start with a Clear code"};
      case LzwStep::table_overrun:
        return {.status = tile::TileStatus::corrupt,
                .bytes_written = decoder.out_position,
                .reason = "LZW stream goes on without a Clear code after the table is full"};
    }
  }
}

}  // namespace terrazzo::coding
