// SPDX-License-Identifier: Apache-2.0
//
// From rows in device memory to the bytes that an encoder takes, tile by tile, as write/block_cutter does it on the
// host: cut out, filled up by repeating the last column, NaN replaced by nodata, the predictor applied. The caller's
// rows are never changed. Any thread may call; nothing is allocated, nothing waits. Every pointer is a device pointer.
//
// Rows may have any strides, also negative ones; samples are aligned to their size, complex ones to that of a part.
// A row of a tile of more than 2^31 samples is a `limit` error, predictor 3 for what is no float a `usage` error.
#pragma once

#include "base/moments.hpp"
#include "gpu/kernels/device_rows.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/format.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// One tile or strip: where its pixels are, and the shape it is encoded in.
struct CutTile {
  std::uint32_t rows = 0;  // which of CutBatch::rows
  std::uint32_t first_row = 0;  // of the level
  std::uint32_t first_column = 0;
  std::uint32_t real_rows = 0, real_columns = 0;  // pixels that are there; at least 1
  std::uint32_t height = 0, width = 0;  // as encoded
  std::uint32_t first_band = 0;
  std::uint64_t output_offset = 0;  // in CutBatch::output; a multiple of 16
};

struct CutFormat {
  DType dtype = DType::u8;
  std::uint32_t samples = 1;  // bands of a tile, stored together
  tiff::Predictor predictor = tiff::Predictor::none;
  bool repeats_last_row = false;  // rows below the raster are the last one again, else zeros; after the predictor
  bool replaces_nan = false;
  std::byte empty[16] = {};  // one sample: what a tile that is not there reads as, and what NaN becomes
};

struct CutBatch {
  DeviceRows const* rows = nullptr;  // one for each level that the tiles are from
  CutTile const* tiles = nullptr;
  std::uint32_t count = 0;
  std::uint32_t max_height = 0, max_width = 0;  // of the tiles, as encoded
  std::byte* output = nullptr;  // height * width * samples samples a tile; aligned to 16 bytes
};

void cut_tiles(CutBatch const& batch, CutFormat const& format, cudaStream_t stream);

// One bit a pixel, most significant first, rows of (width + 7) / 8 bytes; missing pixels are invalid.
void cut_masks(CutBatch const& batch, cudaStream_t stream);

// sizes[i] becomes 0 when every sample of tile i (NaN replaced) is CutFormat::empty, byte for byte: encoders then leave
// the tile out. Others stay as they are; all are below 2^63.
void clear_empty_tiles(CutBatch const& batch, CutFormat const& format, std::uint64_t* sizes, cudaStream_t stream);
// The same for masks, when every pixel is invalid.
void clear_empty_masks(CutBatch const& batch, std::uint64_t* sizes, cudaStream_t stream);

// moments[i * samples + s]: of the valid samples of band s of tile i, with the bits of writing::block_moments(). Valid:
// not NaN, not masked, and not `marker` (null: there is none; host memory, one sample). `row_moments` has room for
// count * max_height * samples. Of complex samples the real part counts.
void tile_moments(CutBatch const& batch, CutFormat const& format, std::byte const* marker, Moments* row_moments,
                  Moments* moments, cudaStream_t stream);

}  // namespace terrazzo::gpu
