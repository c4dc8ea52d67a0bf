// SPDX-License-Identifier: Apache-2.0
//
// zlib's checksum (RFC 1950) from sums over any parts in any order, so that many threads can share a tile.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

inline constexpr std::uint32_t kAdlerModulus = 65521;

// Sums over some of the bytes: of the bytes, and of each byte times its distance from the end. Nothing overflows if
// reduced() is called after at most 2^23 bytes of a stream of at most 2 GiB.
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

// 16 bytes that a device loads at once; the first byte is the lowest of the first word.
struct alignas(16) AdlerVector {
  std::uint32_t words[4];
};

// One thread's share of bytes [from, to) of the `size_bytes` bytes at `data`, which is aligned to 16 bytes: every
// `thread_count`th vector of 16 bytes, starting at number `thread`. `from` is a multiple of 16. A thread's share has at
// most 2^23 bytes.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline AdlerSums adler_share(std::byte const* data, std::uint64_t size_bytes,
                                                                std::uint64_t from, std::uint64_t to,
                                                                std::uint32_t thread,
                                                                std::uint32_t thread_count) noexcept {
  AdlerSums sums;
  std::uint64_t const end = to / 16;
  for (std::uint64_t v = from / 16 + thread; v < end; v += thread_count) {
    AdlerVector vector;  // one load
    std::memcpy(&vector, __builtin_assume_aligned(data + v * 16, 16), 16);
    std::uint32_t bytes = 0, weighted = 0;  // weighted by the distance from the beginning of the vector
    for (std::uint32_t b = 0; b < 16; ++b) {
      std::uint32_t const byte = (vector.words[b / 4] >> (8 * (b % 4))) & 0xFFU;
      bytes += byte;
      weighted += byte * b;
    }
    sums.bytes += bytes;
    sums.weighted += bytes * (size_bytes - v * 16) - weighted;
  }
  // Fewer than 16 bytes remain, and only if `to` is the end of a tile.
  for (std::uint64_t at = end * 16 + thread; at < to; at += thread_count) {
    sums.add(static_cast<std::uint32_t>(data[at]), size_bytes - at);
  }
  return sums;
}

// The checksum of `size_bytes` bytes; `sums` covers all of them.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t adler32_of(AdlerSums const& sums,
                                                                   std::uint64_t size_bytes) noexcept {
  auto const low = static_cast<std::uint32_t>((sums.bytes + 1) % kAdlerModulus);
  auto const high =
      static_cast<std::uint32_t>((sums.weighted % kAdlerModulus + size_bytes % kAdlerModulus) % kAdlerModulus);
  return (high << 16) | low;
}

}  // namespace terrazzo::coding
