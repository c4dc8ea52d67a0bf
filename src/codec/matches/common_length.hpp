// SPDX-License-Identifier: Apache-2.0
//
// The number of equal bytes at two positions, compared eight at a time.
#pragma once

#include "tile/byte_swap.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace terrazzo::codec {

// Loads eight bytes, the first one lowest.
[[nodiscard]] inline std::uint64_t load_eight(std::byte const* from) noexcept {
  auto const value = tile::load_unaligned<std::uint64_t>(from);
  return std::endian::native == std::endian::little ? value : tile::byte_swapped(value);
}

// REQUIRES: both positions have `limit` bytes.
[[nodiscard]] inline std::size_t common_length(std::byte const* a, std::byte const* b, std::size_t limit) noexcept {
  std::size_t length = 0;
  for (; length + 8 <= limit; length += 8) {
    std::uint64_t const differ = load_eight(a + length) ^ load_eight(b + length);
    if (differ != 0) { return length + static_cast<std::size_t>(std::countr_zero(differ)) / 8; }
  }
  while (length < limit && a[length] == b[length]) { ++length; }
  return length;
}

}  // namespace terrazzo::codec
