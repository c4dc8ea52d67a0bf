// SPDX-License-Identifier: Apache-2.0
//
// LZW decoding by many threads at once: the parts of the device's kernels, for host and device, so that the host's
// tests cover them. They accept the streams that LzwDecoder accepts.
//
// A segment is the codes between two Clears. Inside it, the width of code k and its first bit depend only on k, so all
// codes can be extracted at once; the first that is a Clear, an EOI or illegal ends the segment (LzwBits, lzw_stop_at).
// Code c >= 258 of a segment refers to the entry that code c - 257 added: the string of code c - 258, and the first
// byte of code c - 257. So
//   - the codes form trees with literals as roots: the length of a string is the depth, its first byte is the root's.
//     Both come from pointer jumping, and the prefix sum of the lengths gives the position of each string
//   - a string is written from its end: the entry's last byte, then the parent's (write_strings), with one load per
//     byte. Long strings are divided into pieces for several threads by a second pointer, kLzwPiece ancestors up
//     (write_pieces)
// Strings go to a stage, a window on the segment's output, which is then copied in whole words.
#pragma once

#include "base/host_device.hpp"
#include "coding/lzw/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

// A longer segment is an error.
inline constexpr std::uint32_t kLzwMaxSegmentCodes = kLzwCountLimit - kLzwFirstFree + 1;

// The number of segments that a tile of so many bytes may have before it is left to the host. Encoders clear when the
// table is full (some 5,000 bytes) or, like libtiff, when the ratio falls between two checks, 10,000 bytes of data
// apart: those are at least 225 bytes of stream, for a constant image.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t lzw_segment_capacity(std::uint64_t in_bytes) noexcept {
  return in_bytes / 256 + 8;
}

// lzw_bit_order() without the operators of std::byte, which device code cannot call.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline LzwBitOrder lzw_order_of(std::byte const* in,
                                                                   std::uint64_t in_bytes) noexcept {
  bool const old =
      in_bytes >= 2 && static_cast<std::uint32_t>(in[0]) == 0 && (static_cast<std::uint32_t>(in[1]) & 1U) != 0;
  return old ? LzwBitOrder::lsb_first : LzwBitOrder::msb_first;
}

// The index of the first code of 10 bits: the one that finds the table at 511 entries, or at 512 in the old order.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_first_wide(LzwBitOrder order) noexcept {
  return 512 - kLzwFirstFree + (order == LzwBitOrder::lsb_first ? 1U : 0U);
}

// Bits of code k of a segment.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_code_width(std::uint32_t k, LzwBitOrder order) noexcept {
  std::uint32_t const wide = lzw_first_wide(order);
  return kLzwMinWidth + (k >= wide ? 1U : 0U) + (k >= wide + 512 ? 1U : 0U) + (k >= wide + 1536 ? 1U : 0U);
}

// Bits of the codes before code k of a segment.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_code_offset(std::uint32_t k,
                                                                           LzwBitOrder order) noexcept {
  std::uint32_t const wide = lzw_first_wide(order);
  return kLzwMinWidth * k + (k > wide ? k - wide : 0U) + (k > wide + 512 ? k - (wide + 512) : 0U) +
         (k > wide + 1536 ? k - (wide + 1536) : 0U);
}

// The reason why a segment ends. Stops are compared as lzw_stop(k, kind), so that the least is the first.
enum class LzwStopKind : std::uint32_t { clear, input_ended, code_not_in_table, table_overrun };

inline constexpr std::uint32_t kLzwNoStop = 0xFFFFFFFF;
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_stop(std::uint32_t k, LzwStopKind kind) noexcept {
  return k << 2 | static_cast<std::uint32_t>(kind);
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_stop_index(std::uint32_t stop) noexcept {
  return stop >> 2;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr LzwStopKind lzw_stop_kind(std::uint32_t stop) noexcept {
  return static_cast<LzwStopKind>(stop & 3);
}

// The stop at code k of a segment, if no earlier code ends it. `there`: all its bits are in the input. Code
// kLzwMaxSegmentCodes always ends it.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_stop_at(std::uint32_t k, bool there,
                                                                       std::uint32_t code) noexcept {
  if (!there || code == kLzwEndOfInformation) { return lzw_stop(k, LzwStopKind::input_ended); }
  if (code == kLzwClear) { return lzw_stop(k, LzwStopKind::clear); }
  if (k >= kLzwMaxSegmentCodes) { return lzw_stop(k, LzwStopKind::table_overrun); }
  bool const known = k == 0 ? code < kLzwClear : code < kLzwFirstFree + k;
  return known ? kLzwNoStop : lzw_stop(k, LzwStopKind::code_not_in_table);
}

// Status of a tile whose stream ends in this way, unless the codes before it suffice.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr tile::TileStatus lzw_status_of(LzwStopKind kind) noexcept {
  return kind == LzwStopKind::input_ended ? tile::TileStatus::truncated : tile::TileStatus::corrupt;
}

// Words that hold `count` codes at any position: 12 bits each, and a partial word on either side.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_words_for(std::uint32_t count) noexcept {
  return count * kLzwMaxWidth / 32 + 3;
}

// A code from two consecutive words of LzwBits::word(); it starts `bit` bits into the first, at most 31.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t lzw_cut(std::uint32_t first, std::uint32_t second,
                                                                std::uint32_t bit, std::uint32_t width,
                                                                LzwBitOrder order) noexcept {
#if defined(__CUDA_ARCH__)
  return order == LzwBitOrder::msb_first ? __funnelshift_l(second, first, bit) >> (32 - width)
                                         : __funnelshift_r(first, second, bit) & ((1U << width) - 1);
#else
  std::uint64_t const high = order == LzwBitOrder::msb_first ? first : second;
  std::uint64_t const low = order == LzwBitOrder::msb_first ? second : first;
  std::uint64_t const both = high << 32 | low;
  return order == LzwBitOrder::msb_first ? static_cast<std::uint32_t>((both << bit) >> (64 - width))
                                         : static_cast<std::uint32_t>(both >> bit) & ((1U << width) - 1);
#endif
}

// The bits of one segment, as words at 4-byte addresses; bytes outside the tile's input are never read and count as 0.
class LzwBits {
 public:
  // start_bit <= in_bytes * 8
  TERRAZZO_HOST_DEVICE LzwBits(std::byte const* in, std::uint64_t in_bytes, std::uint64_t start_bit,
                               LzwBitOrder order) noexcept
      : in_(in), in_bytes_(in_bytes), order_(order) {
    std::uint64_t const start = start_bit >> 3;
    auto const skew = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(in) + start) & 3);
    first_byte_ = static_cast<std::int64_t>(start) - skew;
    lead_bits_ = skew * 8 + static_cast<std::uint32_t>(start_bit & 7);
    std::uint64_t const left = in_bytes * 8 - start_bit;
    left_bits_ = left < kMany ? static_cast<std::uint32_t>(left) : kMany;
    auto const bytes = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_bytes) - first_byte_);
    whole_begin_ = first_byte_ < 0 ? 1 : 0;
    whole_end_ = bytes / 4 < kMany ? static_cast<std::uint32_t>(bytes / 4) : kMany;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE LzwBitOrder order() const noexcept { return order_; }

  // The first bit of code k, counted from the first word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bit_of(std::uint32_t k) const noexcept {
    return lead_bits_ + lzw_code_offset(k, order_);
  }

  // True if all bits of code k are in the input.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool has(std::uint32_t k) const noexcept {
    return lzw_code_offset(k, order_) + lzw_code_width(k, order_) <= left_bits_;
  }

  // In the order of lzw_cut(): the stream's first bit is the word's highest, or its lowest in the old order.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word(std::uint32_t index) const noexcept {
    std::uint32_t value = 0;
    std::int64_t const at = first_byte_ + std::int64_t{index} * 4;
    if (index >= whole_begin_ && index < whole_end_) {
      std::memcpy(&value, __builtin_assume_aligned(in_ + at, 4), 4);
    } else {
      for (std::uint32_t i = 0; i < 4; ++i) {
        if (at + i >= 0 && static_cast<std::uint64_t>(at + i) < in_bytes_) {
          value |= static_cast<std::uint32_t>(in_[at + i]) << (8 * i);
        }
      }
    }
    if (order_ == LzwBitOrder::lsb_first) { return value; }
#if defined(__CUDA_ARCH__)
    return __byte_perm(value, 0, 0x0123);
#else
    return value << 24 | (value & 0xFF00) << 8 | (value >> 8 & 0xFF00) | value >> 24;
#endif
  }

  // Code k, from words that begin with word(first_word). Any value if it is not there.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t code(std::uint32_t k, std::uint32_t const* words,
                                                        std::uint32_t first_word) const noexcept {
    std::uint32_t const bit = bit_of(k);
    std::uint32_t const* const at = words + ((bit >> 5) - first_word);
    return lzw_cut(at[0], at[1], bit & 31, lzw_code_width(k, order_), order_);
  }

  // The first stop among `count` codes first, first + stride, ...; kLzwNoStop if none.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t first_stop(std::uint32_t first, std::uint32_t stride,
                                                              std::uint32_t count, std::uint32_t const* words,
                                                              std::uint32_t first_word) const noexcept {
    std::uint32_t stop = kLzwNoStop;
    for (std::uint32_t i = count; i-- > 0;) {
      // The code at the limit is always a stop, so no later code is needed.
      std::uint32_t const k = first + i * stride < kLzwMaxSegmentCodes ? first + i * stride : kLzwMaxSegmentCodes;
      std::uint32_t const here = lzw_stop_at(k, has(k), code(k, words, first_word));
      if (here != kLzwNoStop) { stop = here; }
    }
    return stop;
  }

 private:
  static constexpr std::uint32_t kMany = 1U << 28;  // more than any segment has

  std::byte const* in_;
  std::uint64_t in_bytes_;
  std::int64_t first_byte_;  // offset of the first word; negative if the tile starts inside it
  std::uint32_t lead_bits_;  // bits of the first word before the segment
  std::uint32_t left_bits_;  // from the segment's start to the input's end
  std::uint32_t whole_begin_;  // the words that are completely in the input
  std::uint32_t whole_end_;
  LzwBitOrder order_;
};

// A link from a code to an ancestor: its index, the difference of the strings' lengths, and whether it is a literal, so
// that the link has arrived. A literal links to itself.
namespace lzw_link {
inline constexpr std::uint32_t kBits = 13;
inline constexpr std::uint32_t kMask = (1U << kBits) - 1;
inline constexpr std::uint32_t kArrived = 1U << 31;
static_assert(kLzwMaxSegmentCodes <= kMask);

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t of_code(std::uint32_t k, std::uint32_t code) noexcept {
  return code < kLzwClear ? kArrived | k << kBits : (code - kLzwFirstFree) << kBits | 1U;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool has_arrived(std::uint32_t link) noexcept { return link >= kArrived; }
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t index(std::uint32_t link) noexcept {
  return link >> kBits & kMask;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t distance(std::uint32_t link) noexcept {
  return link & kMask;
}
// Joins `link`, which has not arrived, with `on`, which is the link of index(link).
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t joined(std::uint32_t link, std::uint32_t on) noexcept {
  return on + distance(link);
}
}  // namespace lzw_link

// Code k's entry: the code, the index of its ancestor that is kLzwPiece bytes shorter, if there is one, and the first
// byte of code k + 1, which ends the entry that starts with code k's string.
namespace lzw_entry {
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t code(std::uint32_t entry) noexcept { return entry & 0xFFF; }
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t ancestor(std::uint32_t entry) noexcept {
  return entry >> 12 & 0xFFF;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint8_t next_first(std::uint32_t entry) noexcept {
  return static_cast<std::uint8_t>(entry >> 24);
}
// Only codes that another code can refer to are ancestors, so their index has 12 bits.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t with_ancestor(std::uint32_t entry,
                                                                         std::uint32_t index) noexcept {
  return (entry & 0xFF000FFF) | index << 12;
}
}  // namespace lzw_entry

inline constexpr std::uint32_t kLzwPieceRounds = 4;  // rounds of pointer jumping, after which a link spans a piece
inline constexpr std::uint32_t kLzwPiece = 1U << kLzwPieceRounds;

// One segment's strings, ready to be written.
struct LzwStrings {
  std::uint32_t const* entries;
  std::uint32_t const* starts;  // start of each code's string in the segment's output, and the end
};

// The bytes [shift, shift + size) of a segment's output. `shift` counts modulo 2^32: a stage may begin before the
// segment, so that its bytes have the alignment of the output's.
struct LzwStage {
  std::uint8_t* bytes;
  std::uint32_t size;
  std::uint32_t shift;

  TERRAZZO_HOST_DEVICE void put(std::uint32_t position, std::uint8_t byte) const noexcept {
    std::uint32_t const at = position - shift;
    if (at < size) { bytes[at] = byte; }
  }
};

// Writes the strings of codes first, first + stride, ... below `end` inside the stage. One loop over bytes instead of
// nested loops over codes and bytes: the threads of a warp have strings of different lengths, and each continues with
// its next string without waiting for the longest.
TERRAZZO_HOST_DEVICE inline void write_strings(LzwStrings const& strings, std::uint32_t first, std::uint32_t end,
                                               std::uint32_t stride, LzwStage const& stage) noexcept {
  if (first >= end) { return; }
  std::uint32_t k = first;
  std::uint32_t code = lzw_entry::code(strings.entries[k]);
  std::uint32_t position = strings.starts[k + 1] - 1;
  for (;;) {
    bool const literal = code < kLzwClear;
    std::uint32_t const next = literal ? k + stride : code - kLzwFirstFree;
    if (literal && next >= end) { break; }
    std::uint32_t const entry = strings.entries[next];
    stage.put(position, literal ? static_cast<std::uint8_t>(code) : lzw_entry::next_first(entry));
    if (literal) {
      k = next;
      position = strings.starts[k + 1];
    }
    --position;
    code = lzw_entry::code(entry);
  }
  stage.put(position, static_cast<std::uint8_t>(code));
}

// Writes pieces first, first + stride, ... of code k's string, counted from its end, inside the stage.
TERRAZZO_HOST_DEVICE inline void write_pieces(LzwStrings const& strings, std::uint32_t k, std::uint32_t first,
                                              std::uint32_t stride, LzwStage const& stage) noexcept {
  std::uint32_t const end = strings.starts[k + 1];
  std::uint32_t const length = end - strings.starts[k];
  std::uint32_t ancestor = k;
  std::uint32_t done = 0;
  for (std::uint32_t piece = first; piece * kLzwPiece < length; piece += stride) {
    for (; done < piece; ++done) { ancestor = lzw_entry::ancestor(strings.entries[ancestor]); }
    std::uint32_t code = lzw_entry::code(strings.entries[ancestor]);
    std::uint32_t position = end - piece * kLzwPiece;
    for (std::uint32_t i = 0; i < kLzwPiece; ++i) {
      --position;
      if (code < kLzwClear) {
        stage.put(position, static_cast<std::uint8_t>(code));
        break;
      }
      std::uint32_t const entry = strings.entries[code - kLzwFirstFree];
      stage.put(position, lzw_entry::next_first(entry));
      code = lzw_entry::code(entry);
    }
  }
}

// The first code of [begin, end) whose string starts at `position` or after it; `end` if there is none.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t lzw_code_from(std::uint32_t const* starts, std::uint32_t begin,
                                                                      std::uint32_t end,
                                                                      std::uint32_t position) noexcept {
  while (begin < end) {
    std::uint32_t const middle = begin + (end - begin) / 2;
    if (starts[middle] < position) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace terrazzo::coding
