// SPDX-License-Identifier: Apache-2.0
//
// Maps a tile of a batch to its rows of pixels and of its mask, for the kernels that read them.
#pragma once

#include "base/host_device.hpp"
#include "gpu/encode/cut.hpp"
#include "terrazzo/error.hpp"
#include "tile/cut_row.hpp"
#include "tile/view_strides.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Only floats have NaN; the writer treats complex samples as free of NaN.
[[nodiscard]] inline CutFormat checked_format(CutFormat format) {
  if (format.predictor == tiff::Predictor::floating_point && !is_floating(format.dtype)) {
    throw Error(ErrorKind::usage, "predictor 3 is for floats");
  }
  format.replaces_nan = format.replaces_nan && is_floating(format.dtype);
  return format;
}

// Samples in a row of the widest tile. Throws `limit`.
[[nodiscard]] inline std::uint32_t row_samples(CutBatch const& batch, CutFormat const& format) {
  std::uint64_t const samples = std::uint64_t{batch.max_width} * format.samples;
  if (samples > std::uint64_t{tile::kMaxRowSamples}) {
    throw Error(ErrorKind::limit, "a row of a tile has more than 2^31 samples");
  }
  return static_cast<std::uint32_t>(samples);
}

template <class T>
__device__ T sample_of(std::byte const (&bytes)[16]) {
  return tile::load_unaligned<T>(bytes);
}

// Row `y` of the real rows.
template <class T, int Samples>
__device__ tile::RowCutter<T, Samples> cutter_of(CutTile const& tile, ConstDeviceRows const& rows,
                                                 CutFormat const& format, bool has_two_parts, std::uint32_t y) {
  ConstDeviceView const& view = rows.pixels;
  tile::RowCutter<T, Samples> cutter;
  tile::CutRow& row = cutter.row;
  row.samples = static_cast<std::int32_t>(format.samples);
  row.columns = static_cast<std::int32_t>(tile.real_columns);
  row.width_px = static_cast<std::int32_t>(tile.width);
  row.pixel_stride_bytes = view.pixel_stride_bytes;
  row.band_stride_bytes = view.band_stride_bytes;
  row.first = static_cast<std::byte const*>(view.data) +
              (std::int64_t{tile.first_row} - rows.first + y) * view.row_stride_bytes +
              std::int64_t{tile.first_column} * view.pixel_stride_bytes +
              std::int64_t{tile.first_band} * view.band_stride_bytes;
  row.has_two_parts = has_two_parts;
  bool const packed = tile::has_pixels_together(view, format.samples, sizeof(T));
  row.packed_bytes = packed ? (std::int64_t{view.width} - tile.first_column) * view.pixel_stride_bytes : 0;
  cutter.rule.replaces = format.replaces_nan;
  cutter.rule.sentinel = sample_of<T>(format.empty);
  return cutter;
}

inline constexpr std::uint32_t kMaskPixels = 8;  // pixels per byte

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t mask_row_bytes(std::uint32_t columns) {
  return columns / kMaskPixels + (columns % kMaskPixels != 0 ? 1 : 0);
}

struct MaskRow {
  std::byte const* first;
  std::int64_t stride;
};

__device__ inline MaskRow mask_row(CutTile const& tile, ConstDeviceRows const& rows, std::uint32_t y) {
  ConstDeviceView const& view = rows.mask;
  return {static_cast<std::byte const*>(view.data) +
              (std::int64_t{tile.first_row} - rows.first + y) * view.row_stride_bytes +
              std::int64_t{tile.first_column} * view.pixel_stride_bytes,
          view.pixel_stride_bytes};
}

// Converts four pixels, the first one in the lowest byte, to the upper half of a byte, the first one in its highest
// bit.
__device__ inline std::uint32_t valid_bits(std::uint32_t pixels) {
  return ((__vcmpne4(pixels, 0) & 0x10204080U) * 0x01010101U) >> 24;
}

// Bits of the pixels from `begin` on; 0 for pixels after the last column.
__device__ inline std::uint32_t mask_byte(MaskRow const& row, std::uint32_t begin, std::uint32_t columns) {
  std::byte const* const at = row.first + begin * row.stride;
  if (row.stride == 1 && begin + kMaskPixels <= columns && reinterpret_cast<std::uintptr_t>(at) % kMaskPixels == 0) {
    uint2 const pixels = *reinterpret_cast<uint2 const*>(at);
    return valid_bits(pixels.x) | valid_bits(pixels.y) >> 4;
  }
  std::uint32_t bits = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kMaskPixels; ++i) {
    if (begin + i < columns && at[i * row.stride] != std::byte{0}) { bits |= 0x80U >> i; }
  }
  return bits;
}

}  // namespace terrazzo::gpu
