// SPDX-License-Identifier: Apache-2.0
//
// The last stage of a device read: turns decoded tiles into finished samples in the result. The predictor's sums, byte
// order, bit unpacking, nodata, scale, type and placing happen in one pass: a decoded byte is read once, a result
// sample is written once. One warp per row.
#pragma once

#include "tile/placement.hpp"
#include "tile/row_format.hpp"
#include "tile/tile_status.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// All pointers are device pointers. `decoded` is scratch: rows too wide for shared memory are summed in place.
struct PlaceBatch {
  std::byte* decoded = nullptr;
  tile::RowFormat format{};
  tile::Placement const* placements = nullptr;
  std::uint32_t placement_count = 0;
  std::uint32_t max_rows = 0;  // largest of the placements
  tile::BandTarget const* bands = nullptr;
  tile::ResultFormat result{};
  tile::TileStatus const* statuses = nullptr;  // tiles that are not ok are skipped; null: all are ok
  std::uint32_t const* source_columns = nullptr;  // for a resampled result
  std::uint32_t const* source_rows = nullptr;
  // The tiles, for rows that are summed in place.
  std::uint64_t const* tile_offsets = nullptr;
  std::uint64_t const* tile_sizes = nullptr;
  std::uint32_t tile_count = 0;
  std::uint32_t tile_rows = 0;  // rows of the tallest tile
};

// False if the library was compiled for other GPUs than the current one.
[[nodiscard]] bool has_kernels_for_current_device() noexcept;

void place_tiles(PlaceBatch const& batch, cudaStream_t stream);

// Writes the bands' fill values into the rectangles.
void fill_rectangles(tile::Placement const* placements, std::uint32_t count, std::uint32_t max_rows,
                     tile::BandTarget const* bands, tile::ResultFormat const& result, cudaStream_t stream);

// Sets pixels of one band (width x height, contiguous mask of bytes) whose mask is 0 to `invalid`.
struct MaskBatch {
  std::byte* data = nullptr;  // samples of the band
  std::int64_t row_stride_bytes = 0, pixel_stride_bytes = 0;
  std::uint32_t width = 0, height = 0;
  std::uint32_t sample_bytes = 1;
  std::byte invalid[16]{};
  std::byte const* mask = nullptr;
};
void apply_mask(MaskBatch const& batch, cudaStream_t stream);

}  // namespace terrazzo::gpu
