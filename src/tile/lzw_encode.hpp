// SPDX-License-Identifier: Apache-2.0
//
// Encodes TIFF's LZW (TIFF 6.0, section 13), most significant bit first, the width changing one code early: the streams
// that tile/lzw.hpp decodes. The longest string in the table is always taken and the table is filled before it is
// cleared, so streams are as short as libtiff's (the same bytes unless libtiff cleared its table early); but long data
// that hardly repeat go through tile/lzw_lanes.hpp, which says how much longer: 0.2 % as a rule, 1 % at worst.
#pragma once

#include "tile/lzw_codes.hpp"
#include "tile/lzw_lanes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::tile {

// The longest stream that `in_bytes` can become: a code of 12 bits a byte, a Clear after each table, Clear, EOI. The
// Clears behind the tables that lanes leave unfinished are paid for: a table's first 254 codes take 9 bits, 3 less than
// counted, and every piece begins a table and has more than 250 codes: it has 32 KiB, and strings grow by at most a
// byte a code.
[[nodiscard]] constexpr std::uint64_t lzw_encode_bound(std::uint64_t in_bytes) noexcept {
  return in_bytes + in_bytes / 2 + in_bytes / kLzwCodesPerTable * 2 + 16;
}

// The tables of one thread, 700 KB. Nothing is remembered from one call to the next.
class LzwEncoder {
 public:
  // `out` has at least lzw_encode_bound(in.size()) bytes. Returns the bytes written.
  [[nodiscard]] std::size_t encode(std::span<std::byte const> in, std::span<std::byte> out) noexcept;

 private:
  // Two entries a bucket, the newer in the low half. An entry is prefix << 20 | byte << 12 | code, all ones when
  // empty (no prefix is 4095).
  std::array<std::uint64_t, kLzwBuckets> buckets_;
  std::array<std::uint16_t, kLzwCodesPerTable> codes_;  // of the current table, before they are packed

  std::array<std::uint16_t, kLzwCodesPerTable + 2> zeros_;  // by length: the codes of runs of zeros
  std::size_t longest_zeros_ = 1;  // known to have a code

  LzwLanes lanes_;

  struct Progress;
  struct Entry;
  [[nodiscard]] Entry look_up(std::uint32_t prefix, std::uint32_t byte) const noexcept;
  void pass_zeros(Progress& at) noexcept;
  template <bool PassesZeros>
  void add_codes(Progress& at, std::byte const* stop, std::size_t most) noexcept;  // in codes_
  void fill_table(Progress& at) noexcept;
  void take_lanes(Progress& at, LzwCodeWriter& out) noexcept;
};

}  // namespace terrazzo::tile
