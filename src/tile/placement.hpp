// SPDX-License-Identifier: Apache-2.0
//
// Where decoded tiles go: rectangles of tiles into results of any strides. Plain values that travel to the device.
#pragma once

#include "terrazzo/dtype.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// One rectangle of one decoded tile.
struct Placement {
  std::uint64_t source_offset_bytes = 0;      // of the tile's first row in the batch's output
  std::int64_t destination_offset_bytes = 0;  // of the rectangle's first pixel, band 0, from the destination's data
  std::uint32_t tile = 0;                     // index in the batch
  std::uint32_t plane = 0;                    // of the tile, when planes are separate
  std::uint32_t first_row = 0, first_column = 0;  // in the tile; unused when the result is resampled
  std::uint32_t rows = 0, columns = 0;            // of the result
  // Of a resampled result: its first row and column, and the tile's own place in the window the maps count from.
  std::uint32_t result_row = 0, result_column = 0;
  std::int64_t row_origin = 0, column_origin = 0;
  std::uint32_t bands_index = 0;  // of the first BandTarget of its job
};

// One band of the result: which sample of the pixel (or which plane) feeds it, and what happens to values on their way.
struct BandTarget {
  std::uint32_t sample = 0;
  std::uint32_t plane = 0;
  std::byte fill[16]{};  // a finished result sample, for tiles that are not in the file
  ValueTransform transform{};
};

struct ResultFormat {
  std::byte* data = nullptr;
  DType dtype = DType::u8;
  std::uint32_t sample_bytes = 1;
  std::uint32_t bands = 0;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
  bool separate_planes = false;  // a tile feeds only the bands of its plane
  bool plain = false;  // no conversion, no transform: samples go as they are
};

}  // namespace terrazzo::tile
