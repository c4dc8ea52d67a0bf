// SPDX-License-Identifier: Apache-2.0
//
// zlib's checksum (RFC 1950) by sums over any parts in any order, so that many threads can share a tile.
#pragma once

#include "tile/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

inline constexpr std::uint32_t kAdlerModulus = 65521;

// Sums over some of the bytes: of the bytes, and of each times its distance from the end. Of at most 2^23 bytes of a
// stream of at most 2 GiB before reduced() is called: then nothing overflows.
struct AdlerSums {
  std::uint64_t bytes = 0, weighted = 0;

  TERRAZZO_HOST_DEVICE void add(std::uint32_t byte, std::uint64_t distance_from_end) noexcept {
    bytes += byte;
    weighted += byte * distance_from_end;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE AdlerSums reduced() const noexcept {
    return {bytes % kAdlerModulus, weighted % kAdlerModulus};
  }
};

// The checksum of `size_bytes` bytes, all of which are in `sums`.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t adler32_of(AdlerSums const& sums,
                                                                   std::uint64_t size_bytes) noexcept {
  auto const low = static_cast<std::uint32_t>((sums.bytes + 1) % kAdlerModulus);
  auto const high =
      static_cast<std::uint32_t>((sums.weighted % kAdlerModulus + size_bytes % kAdlerModulus) % kAdlerModulus);
  return (high << 16) | low;
}

}  // namespace terrazzo::tile
