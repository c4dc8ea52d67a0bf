// SPDX-License-Identifier: Apache-2.0
//
// The validity mask of a LERC blob: a bit a pixel, the first in the highest bit, run-length coded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::codec {

inline constexpr std::uint64_t kEightValid = 0x0101010101010101;  // the bytes of eight valid pixels

// A byte a pixel in, 1 where it is valid and else 0. Bits left over in the last byte are set.
[[nodiscard]] std::vector<std::byte> pack_lerc_mask(std::span<std::byte const> valid);

// At most this many bytes come out of write_lerc_mask() for so many packed ones.
[[nodiscard]] constexpr std::size_t lerc_mask_bound(std::size_t packed_bytes) noexcept {
  return packed_bytes + packed_bytes / 2 + 8;
}

// Returns the end of what it wrote.
[[nodiscard]] std::byte* write_lerc_mask(std::span<std::byte const> packed, std::byte* to) noexcept;

}  // namespace terrazzo::codec
