// SPDX-License-Identifier: Apache-2.0
//
// Converts rows in device memory to the input of an encoder, tile by tile, like write/host/block_cutter on the host:
// cuts out a tile, fills it up by repeating the last column, replaces NaN by nodata, applies the predictor. The
// caller's rows are never changed. Thread-safe; allocates nothing and never waits. Every pointer is a device pointer.
//
// Rows may have any strides, also negative ones; samples are aligned to their size, complex ones to that of a part.
// Throws `limit` for a row of a tile of more than 2^31 samples, `usage` for predictor 3 with samples that are not
// floats.
#pragma once

#include "base/moments.hpp"
#include "gpu/transfer/device_rows.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/format.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// One tile or strip: the location of its pixels, and its encoded shape.
struct CutTile {
  std::uint32_t rows = 0;  // index in CutBatch::rows
  std::uint32_t first_row = 0;  // row of the level
  std::uint32_t first_column = 0;
  std::uint32_t real_rows = 0, real_columns = 0;  // pixels inside the raster; at least 1
  std::uint32_t height = 0, width = 0;  // as encoded
  std::uint32_t first_band = 0;
  std::uint64_t output_offset = 0;  // offset in CutBatch::output; a multiple of 16
};

struct CutFormat {
  DType dtype = DType::u8;
  std::uint32_t samples = 1;  // bands of a tile, stored together
  tiff::Predictor predictor = tiff::Predictor::none;
  bool repeats_last_row = false;  // rows below the raster repeat the last row, otherwise zeros; after the predictor
  bool replaces_nan = false;
  std::byte empty[16] = {};  // one sample: the value of missing tiles, and the replacement of NaN
};

struct CutBatch {
  ConstDeviceRows const* rows = nullptr;  // one for each level of the tiles
  CutTile const* tiles = nullptr;
  std::uint32_t count = 0;
  std::uint32_t max_height = 0, max_width = 0;  // largest of the tiles, as encoded
  std::byte* output = nullptr;  // height * width * samples samples per tile; aligned to 16 bytes
};

void cut_tiles(CutBatch const& batch, CutFormat const& format, cudaStream_t stream);

// One bit per pixel, most significant first, rows of (width + 7) / 8 bytes; missing pixels are invalid.
void cut_masks(CutBatch const& batch, cudaStream_t stream);

// Sets sizes[i] to 0 if every sample of tile i (NaN replaced) equals CutFormat::empty, byte for byte: encoders then
// omit the tile. Other sizes stay unchanged; all are below 2^63.
void clear_empty_tiles(CutBatch const& batch, CutFormat const& format, std::uint64_t* sizes, cudaStream_t stream);
// Sets sizes[i] to 0 if every pixel of mask i is invalid.
void clear_empty_masks(CutBatch const& batch, std::uint64_t* sizes, cudaStream_t stream);

// Sets moments[i * samples + s] to the moments of the valid samples of band s of tile i, with the bits of
// writing::block_moments(). Valid: not NaN, not masked, and not `marker` (null: there is none; host memory, one
// sample). `row_moments` has room for count * max_height * samples. Of complex samples, the real part counts.
void tile_moments(CutBatch const& batch, CutFormat const& format, std::byte const* marker, Moments* row_moments,
                  Moments* moments, cudaStream_t stream);

}  // namespace terrazzo::gpu
