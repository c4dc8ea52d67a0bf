// SPDX-License-Identifier: Apache-2.0
//
// FillOrder 2: the bits of every byte of the compressed data run from the least significant to the most significant.
// They are reversed before decompression, except for codecs with a parameter for it; JPEG and the other byte-oriented
// codecs ignore the tag.
#pragma once

#include "base/host_device.hpp"
#include "tile/byte_swap.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::tile {

// Reverses the bits of each of the eight bytes.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t bits_reversed(std::uint64_t bytes) noexcept {
  bytes = ((bytes >> 1) & 0x5555555555555555U) | ((bytes & 0x5555555555555555U) << 1);
  bytes = ((bytes >> 2) & 0x3333333333333333U) | ((bytes & 0x3333333333333333U) << 2);
  return ((bytes >> 4) & 0x0F0F0F0F0F0F0F0FU) | ((bytes & 0x0F0F0F0F0F0F0F0FU) << 4);
}

// `out` may equal `in`, otherwise they must not overlap. Eight bytes at a time, which compilers vectorize.
TERRAZZO_HOST_DEVICE inline void reverse_bits(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    store_unaligned<std::uint64_t>(out + i, bits_reversed(load_unaligned<std::uint64_t>(in + i)));
  }
  for (; i < count; ++i) { out[i] = static_cast<std::byte>(bits_reversed(static_cast<std::uint64_t>(in[i])) & 0xFFU); }
}

// The host's form: processes all bytes of `in`; `out` must have room for them.
inline void reverse_bits(std::span<std::byte const> in, std::span<std::byte> out) noexcept {
  reverse_bits(in.data(), out.data(), in.size());
}

}  // namespace terrazzo::tile
