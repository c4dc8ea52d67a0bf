// SPDX-License-Identifier: Apache-2.0
//
// Encodes TIFF's LZW (TIFF 6.0, section 13), most significant bit first, the width changing one code early: the streams
// that coding/lzw/decode.hpp decodes. The encoder always uses the longest string in the table and fills the table
// before it clears it, so streams are as short as libtiff's (the same bytes unless libtiff cleared its table early).
// Long data with few repetitions are encoded by coding/lzw/lanes.hpp, whose streams are usually 0.2 % longer, 1 % at
// worst.
#pragma once

#include "coding/lzw/codes.hpp"
#include "coding/lzw/lanes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::coding {

// Upper bound for the stream of `in_bytes`: a code of 12 bits per byte, a Clear after each table, Clear, EOI. It covers
// the Clears after the unfinished tables of lanes: a table's first 254 codes take 9 bits, 3 less than counted, and
// every piece begins a table and has more than 250 codes: it has 32 KiB, and strings grow by at most a byte per code.
[[nodiscard]] constexpr std::uint64_t lzw_encode_bound(std::uint64_t in_bytes) noexcept {
  return in_bytes + in_bytes / 2 + in_bytes / kLzwCodesPerTable * 2 + 16;
}

// The tables of one thread, 700 KB. Calls are independent of each other.
class LzwEncoder {
 public:
  // `out` has at least lzw_encode_bound(in.size()) bytes. Returns the number of bytes written.
  [[nodiscard]] std::size_t encode(std::span<std::byte const> in, std::span<std::byte> out) noexcept;

 private:
  // Two entries per bucket, the newer in the low half. An entry is prefix << 20 | byte << 12 | code, all ones if empty
  // (no prefix is 4095).
  std::array<std::uint64_t, kLzwBuckets> buckets_;
  std::array<std::uint16_t, kLzwCodesPerTable> codes_;  // codes of the current table, before packing

  std::array<std::uint16_t, kLzwCodesPerTable + 2> zeros_;  // codes of runs of zeros, by length
  std::size_t longest_zeros_ = 1;  // longest run known to have a code

  LzwLanes lanes_;

  struct Progress;
  struct Entry;
  [[nodiscard]] Entry look_up(std::uint32_t prefix, std::uint32_t byte) const noexcept;
  void pass_zeros(Progress& at) noexcept;
  template <bool PassesZeros>
  void add_codes(Progress& at, std::byte const* stop, std::size_t most) noexcept;  // adds to codes_
  void fill_table(Progress& at) noexcept;
  void take_lanes(Progress& at, LzwCodeWriter& out) noexcept;
};

}  // namespace terrazzo::coding
