// SPDX-License-Identifier: Apache-2.0
//
// Unpacks samples of 1 to 31 bits to whole bytes. TIFF packs a row most significant bit first for any byte order of the
// file, and starts every row on a byte; all samples are treated as unsigned, as in GDAL.
//
// 24 bits are the exception, since libtiff swaps them: GDAL reads a little-endian file's three bytes most significant
// first and a big-endian file's least significant first. We do the same.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Bytes of a stored row of samples, padding bits included.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::size_t packed_row_bytes(std::size_t sample_count,
                                                                          std::uint32_t bits) noexcept {
  return (sample_count * bits + 7) / 8;
}

// One sample of a packed row; reads only bytes that hold some of its bits. bits is 1 to 32.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t unpack_sample(std::byte const* row, std::size_t index,
                                                                      std::uint32_t bits) noexcept {
  std::size_t const first_bit = index * bits;
  std::size_t const last_byte = (first_bit + bits - 1) >> 3;
  std::uint64_t window = 0;
  for (std::size_t byte = first_bit >> 3; byte <= last_byte; ++byte) {
    window = (window << 8) | static_cast<std::uint64_t>(row[byte]);
  }
  std::size_t const behind = (last_byte + 1) * 8 - (first_bit + bits);
  return static_cast<std::uint32_t>((window >> behind) & ((std::uint64_t{1} << bits) - 1));
}

// The bytes of the smallest unsigned type that holds `bits`.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t unpacked_sample_bytes(std::uint32_t bits) noexcept {
  return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

// Unpacks `sample_count` samples of `bits` (1 to 31) into samples of unpacked_sample_bytes() in native byte order.
// `swapped` means that the file is big-endian; it matters for 24 bits only. Reads packed_row_bytes() of `in`, writes
// sample_count * unpacked_sample_bytes() of `out`; they must not overlap.
void unpack_bits_row(std::byte const* in, std::byte* out, std::size_t sample_count, std::uint32_t bits,
                     bool swapped) noexcept;

// Converts one bit per sample to bytes of 0 and `set_value`: 1 for data, 255 for masks.
void unpack_mask_row(std::byte const* in, std::byte* out, std::size_t sample_count, std::byte set_value) noexcept;

}  // namespace terrazzo::tile
