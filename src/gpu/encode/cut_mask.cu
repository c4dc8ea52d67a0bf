// SPDX-License-Identifier: Apache-2.0
//
// Each thread packs eight pixels into one byte.
#include "gpu/encode/cut.hpp"
#include "gpu/encode/cut_grid.cuh"
#include "gpu/encode/cut_source.cuh"
#include "gpu/runtime/check.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

__global__ void __launch_bounds__(kCutThreads) mask_kernel(CutBatch batch, CutGrid grid) {
  CutPlace const place(grid);
  for (std::uint32_t t = blockIdx.y; t < batch.count; t += gridDim.y) {
    CutTile const tile = batch.tiles[t];
    std::uint32_t const row_bytes = mask_row_bytes(tile.width);
    for (std::uint32_t step = 0; step < kRowsPerThread; ++step) {
      std::uint32_t const y = place.row(step);
      if (y >= tile.height) { break; }
      bool const is_there = y < tile.real_rows;
      MaskRow const row = mask_row(tile, batch.rows[tile.rows], is_there ? y : 0);
      std::byte* const out = batch.output + tile.output_offset + std::uint64_t{y} * row_bytes;
      for (std::uint32_t byte = place.first(); byte < place.end(row_bytes); byte += place.stride()) {
        out[byte] = static_cast<std::byte>(mask_byte(row, byte * kMaskPixels, is_there ? tile.real_columns : 0));
      }
    }
  }
}

}  // namespace

void cut_masks(CutBatch const& batch, cudaStream_t stream) {
  if (batch.count == 0 || batch.max_height == 0 || batch.max_width == 0) { return; }
  CutGrid const grid = make_cut_grid(batch.max_height, mask_row_bytes(batch.max_width));
  mask_kernel<<<grid.blocks(batch.count), kCutThreads, 0, stream>>>(batch, grid);
  check_launch("cutting masks");
}

}  // namespace terrazzo::gpu
