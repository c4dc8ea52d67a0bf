// SPDX-License-Identifier: Apache-2.0
//
// The validity mask of a LERC blob: one bit per pixel, the first in the highest bit, run-length coded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::codec {

inline constexpr std::uint64_t kEightValid = 0x0101010101010101;  // the bytes of eight valid pixels

// Input: one byte per pixel, 1 if it is valid, otherwise 0. Unused bits of the last byte are set.
[[nodiscard]] std::vector<std::byte> pack_lerc_mask(std::span<std::byte const> valid);

// Upper bound for the output of write_lerc_mask() for so many packed bytes.
[[nodiscard]] constexpr std::size_t lerc_mask_bound(std::size_t packed_bytes) noexcept {
  return packed_bytes + packed_bytes / 2 + 8;
}

// Returns the end of the output.
[[nodiscard]] std::byte* write_lerc_mask(std::span<std::byte const> packed, std::byte* to) noexcept;

}  // namespace terrazzo::codec
