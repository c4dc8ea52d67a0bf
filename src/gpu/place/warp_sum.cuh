// SPDX-License-Identifier: Apache-2.0
//
// A predictor's sums along one row, by one warp, in place, in shared or global memory.
#pragma once

#include "tile/byte_swap.hpp"
#include "tile/row_format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

// Replaces every byte of a word by the sum of itself and the lower bytes, modulo 256.
__device__ inline std::uint32_t byte_sums(std::uint32_t word) {
  word = __vadd4(word, word << 8);
  return __vadd4(word, word << 16);
}

__device__ inline std::uint32_t in_every_byte(std::uint32_t byte) { return (byte & 0xFFU) * 0x01010101U; }

// 16 bytes per lane; `carry` is the sum of all bytes before this step. Returns the carry of the next step.
__device__ inline std::uint32_t sum_16_bytes(uint4& chunk, std::uint32_t carry, unsigned lane) {
  chunk.x = byte_sums(chunk.x);
  chunk.y = __vadd4(byte_sums(chunk.y), in_every_byte(chunk.x >> 24));
  chunk.z = __vadd4(byte_sums(chunk.z), in_every_byte(chunk.y >> 24));
  chunk.w = __vadd4(byte_sums(chunk.w), in_every_byte(chunk.z >> 24));
  std::uint32_t const own = chunk.w >> 24;
  std::uint32_t sum = own;
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    std::uint32_t const before = __shfl_up_sync(kAllLanes, sum, distance);
    if (lane >= distance) { sum += before; }
  }
  std::uint32_t const offset = in_every_byte(carry + sum - own);
  chunk.x = __vadd4(chunk.x, offset);
  chunk.y = __vadd4(chunk.y, offset);
  chunk.z = __vadd4(chunk.z, offset);
  chunk.w = __vadd4(chunk.w, offset);
  return carry + __shfl_sync(kAllLanes, sum, kWarp - 1);
}

// Sums bytes at distance 1. `from` and `to` are aligned to 16 bytes and may be equal; both have room for `bytes`
// rounded up to 16.
__device__ inline void sum_bytes(std::byte const* from, std::byte* to, std::size_t bytes, unsigned lane) {
  std::uint32_t carry = 0;
  for (std::size_t at = 0; at < bytes; at += kWarp * 16) {
    std::size_t const mine = at + lane * 16;
    uint4 chunk = mine < bytes ? *reinterpret_cast<uint4 const*>(from + mine) : uint4{0, 0, 0, 0};
    carry = sum_16_bytes(chunk, carry, lane);
    if (mine < bytes) { *reinterpret_cast<uint4*>(to + mine) = chunk; }
  }
}

// Sums elements of any width at any distance: one pixel per lane, 32 per step.
template <class T>
__device__ inline void sum_elements(std::byte* row, std::size_t pixels, std::uint32_t samples, bool swapped,
                                    unsigned lane) {
  for (std::uint32_t sample = 0; sample < samples; ++sample) {
    T carry = 0;
    for (std::size_t first = 0; first < pixels; first += kWarp) {
      std::size_t const pixel = first + lane;
      std::byte* const at = row + (pixel * samples + sample) * sizeof(T);
      T sum = 0;
      if (pixel < pixels) {
        sum = *reinterpret_cast<T const*>(at);
        if (swapped) { sum = tile::byte_swapped(sum); }
      }
      for (unsigned distance = 1; distance < kWarp; distance *= 2) {
        // Shuffles move 32 or 64 bits.
        using Moved = std::conditional_t<sizeof(T) == 8, unsigned long long, std::uint32_t>;
        auto const before = static_cast<T>(__shfl_up_sync(kAllLanes, static_cast<Moved>(sum), distance));
        if (lane >= distance) { sum = static_cast<T>(sum + before); }
      }
      sum = static_cast<T>(sum + carry);
      if (pixel < pixels) { *reinterpret_cast<T*>(at) = sum; }
      using Moved = std::conditional_t<sizeof(T) == 8, unsigned long long, std::uint32_t>;
      carry = static_cast<T>(__shfl_sync(kAllLanes, static_cast<Moved>(sum), kWarp - 1));
    }
  }
}

__device__ inline void sum_row(std::byte* row, tile::RowFormat const& format, unsigned lane) {
  bool const swapped = format.step == tile::FinishStep::horizontal_swapped;
  if (format.sums_bytes()) {
    return sum_elements<std::uint8_t>(row, std::size_t{format.width_px} * (format.bits / 8), format.samples, false,
                                      lane);
  }
  switch (format.bits) {
    case 8: return sum_elements<std::uint8_t>(row, format.width_px, format.samples, swapped, lane);
    case 16: return sum_elements<std::uint16_t>(row, format.width_px, format.samples, swapped, lane);
    case 32: return sum_elements<std::uint32_t>(row, format.width_px, format.samples, swapped, lane);
    default: return sum_elements<std::uint64_t>(row, format.width_px, format.samples, swapped, lane);
  }
}

}  // namespace terrazzo::gpu
