// SPDX-License-Identifier: Apache-2.0
//
// tile/cut_row.hpp defines the contents of a chunk of a row; here each chunk gets a thread. Neighbouring threads have
// neighbouring chunks, so that loads and stores of a warp are contiguous. A tile is a column of the grid.
#include "gpu/encode/cut.hpp"

#include "gpu/encode/cut_grid.cuh"
#include "gpu/encode/cut_source.cuh"
#include "gpu/runtime/check.hpp"
#include "tile/cut_row.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using tiff::Predictor;

template <class T, Predictor P, int Samples>
__global__ void __launch_bounds__(kCutThreads)
    cut_kernel(CutBatch batch, CutFormat format, bool has_two_parts, CutGrid grid) {
  CutPlace const place(grid);
  for (std::uint32_t t = blockIdx.y; t < batch.count; t += gridDim.y) {
    CutTile const tile = batch.tiles[t];
    std::uint64_t const row_bytes = std::uint64_t{tile.width} * format.samples * sizeof(T);
    for (std::uint32_t step = 0; step < kRowsPerThread; ++step) {
      std::uint32_t const y = place.row(step);
      if (y >= tile.height) { break; }
      std::uint32_t const last = tile.real_rows - 1;
      std::byte* const out = batch.output + tile.output_offset + y * row_bytes;
      auto const cutter =
          cutter_of<T, Samples>(tile, batch.rows[tile.rows], format, has_two_parts, y < last ? y : last);
      bool const is_there = y <= last || format.repeats_last_row;
      std::uint32_t const end = place.end(static_cast<std::uint32_t>(cutter.template chunk_count<P>(out)));
      for (std::uint32_t chunk = place.first(); chunk < end; chunk += place.stride()) {
        if (is_there) {
          cutter.template cut<P>(static_cast<std::int32_t>(chunk), out);
        } else {
          cutter.template clear<P>(static_cast<std::int32_t>(chunk), out);
        }
      }
    }
  }
}

template <class T, Predictor P, int Samples>
void launch_cut(CutBatch const& batch, CutFormat const& format, cudaStream_t stream) {
  constexpr std::uint32_t kCount = tile::kChunkSamples<T>;
  std::uint32_t const samples = row_samples(batch, format);
  // One more than the samples need: an unaligned row starts in the middle of a chunk.
  CutGrid const grid = make_cut_grid(batch.max_height, samples / kCount + (samples % kCount != 0 ? 1 : 0),
                                     P == Predictor::floating_point ? 0 : 1);
  cut_kernel<T, P, Samples>
      <<<grid.blocks(batch.count), kCutThreads, 0, stream>>>(batch, format, is_complex(format.dtype), grid);
  check_launch("cutting tiles");
}

template <class T, Predictor P>
void launch_for_samples(CutBatch const& batch, CutFormat const& format, cudaStream_t stream) {
  switch (format.samples) {
    case 1: return launch_cut<T, P, 1>(batch, format, stream);
    case 3: return launch_cut<T, P, 3>(batch, format, stream);
    case 4: return launch_cut<T, P, 4>(batch, format, stream);
    default: return launch_cut<T, P, 0>(batch, format, stream);
  }
}

template <class T>
void launch_for_predictor(CutBatch const& batch, CutFormat const& format, cudaStream_t stream) {
  if (format.predictor == Predictor::horizontal) {
    return launch_for_samples<T, Predictor::horizontal>(batch, format, stream);
  }
  if constexpr (sizeof(T) >= 2) {
    if (format.predictor == Predictor::floating_point) {
      return launch_for_samples<T, Predictor::floating_point>(batch, format, stream);
    }
  }
  if (format.samples == 1) { return launch_cut<T, Predictor::none, 1>(batch, format, stream); }
  return launch_cut<T, Predictor::none, 0>(batch, format, stream);
}

}  // namespace

void cut_tiles(CutBatch const& batch, CutFormat const& any_format, cudaStream_t stream) {
  CutFormat const format = checked_format(any_format);
  if (batch.count == 0 || batch.max_height == 0 || batch.max_width == 0) { return; }
  switch (size_bytes(format.dtype)) {
    case 1: return launch_for_predictor<std::uint8_t>(batch, format, stream);
    case 2: return launch_for_predictor<std::uint16_t>(batch, format, stream);
    case 4: return launch_for_predictor<std::uint32_t>(batch, format, stream);
    case 8: return launch_for_predictor<std::uint64_t>(batch, format, stream);
    // TIFF defines no differences of 128 bits: copy, as the host does.
    default: return launch_cut<tile::Sample16, Predictor::none, 0>(batch, format, stream);
  }
}

}  // namespace terrazzo::gpu
