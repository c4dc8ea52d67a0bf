// SPDX-License-Identifier: Apache-2.0
//
// Placement of decoded tiles: rectangles of tiles into results of any strides. Plain values, copied to the device.
#pragma once

#include "terrazzo/dtype.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// One rectangle of one decoded tile.
struct Placement {
  std::uint64_t source_offset_bytes = 0;      // offset of the tile's first row in the batch's output
  std::int64_t destination_offset_bytes = 0;  // of the rectangle's first pixel, band 0, from the destination's data
  std::uint32_t tile = 0;                     // index in the batch
  std::uint32_t plane = 0;                    // plane of the tile, if planes are separate
  std::uint32_t first_row = 0, first_column = 0;  // in the tile; unused if the result is resampled
  std::uint32_t rows = 0, columns = 0;            // size in the result
  // For a resampled result: its first row and column, and the tile's position in the window that the maps refer to.
  std::uint32_t result_row = 0, result_column = 0;
  std::int64_t row_origin = 0, column_origin = 0;
  std::uint32_t bands_index = 0;  // index of the first BandTarget of its job
};

// One band of the result: its source sample in the pixel (or plane), and the transformation of values.
struct BandTarget {
  std::uint32_t sample = 0;
  std::uint32_t plane = 0;
  std::byte fill[16]{};  // a finished result sample, for tiles absent from the file
  ValueTransform transform{};
};

struct ResultFormat {
  std::byte* data = nullptr;
  DType dtype = DType::u8;
  std::uint32_t sample_bytes = 1;
  std::uint32_t bands = 0;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
  bool separate_planes = false;  // a tile provides only the bands of its plane
  bool plain = false;  // no conversion, no transform: samples are copied
};

}  // namespace terrazzo::tile
