// SPDX-License-Identifier: Apache-2.0
//
// Finds tiles that need not be stored. Every tile is first marked as empty, in the highest bit of its size; a thread
// that sees another value clears the mark (all write the same value, so their order is irrelevant); marked sizes become
// 0.
#include "gpu/encode/cut.hpp"
#include "gpu/encode/cut_grid.cuh"
#include "gpu/encode/cut_source.cuh"
#include "gpu/runtime/check.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

constexpr std::uint64_t kMark = std::uint64_t{1} << 63;

__global__ void __launch_bounds__(kCutThreads) mark_kernel(std::uint64_t* sizes, std::uint32_t count) {
  std::uint32_t const i = blockIdx.x * kCutThreads + threadIdx.x;
  if (i < count) { sizes[i] |= kMark; }
}

__global__ void __launch_bounds__(kCutThreads) clear_kernel(std::uint64_t* sizes, std::uint32_t count) {
  std::uint32_t const i = blockIdx.x * kCutThreads + threadIdx.x;
  if (i < count && (sizes[i] & kMark) != 0) { sizes[i] = 0; }
}

// Volatile, so that every read sees the writes of other threads.
__device__ bool is_marked(std::uint64_t const* size) {
  return (*static_cast<std::uint64_t volatile const*>(size) & kMark) != 0;
}

__device__ void unmark(std::uint64_t* size) {
  auto* const seen = static_cast<std::uint64_t volatile*>(size);
  *seen = *seen & ~kMark;
}

template <class T>
__global__ void __launch_bounds__(kCutThreads)
    tile_kernel(CutBatch batch, CutFormat format, bool has_two_parts, CutGrid grid, std::uint64_t* sizes) {
  CutPlace const place(grid);
  T const empty = sample_of<T>(format.empty);
  for (std::uint32_t t = blockIdx.y; t < batch.count; t += gridDim.y) {
    CutTile const tile = batch.tiles[t];
    constexpr std::uint32_t kCount = tile::kChunkSamples<T>;
    std::uint32_t const samples = tile.real_columns * format.samples;
    std::uint32_t const end = place.end(samples / kCount + (samples % kCount != 0 ? 1 : 0));
    for (std::uint32_t step = 0; step < kRowsPerThread; ++step) {
      std::uint32_t const y = place.row(step);
      // Most tiles are not empty, and their first block clears the mark: the other blocks skip them.
      if (y >= tile.real_rows || !is_marked(sizes + t)) { break; }
      auto const cutter = cutter_of<T, 0>(tile, batch.rows[tile.rows], format, has_two_parts, y);
      for (std::uint32_t chunk = place.first(); chunk < end; chunk += place.stride()) {
        if (!cutter.is_filled_with(empty, static_cast<std::int32_t>(chunk))) {
          unmark(sizes + t);
          break;
        }
      }
    }
  }
}

__global__ void __launch_bounds__(kCutThreads) mask_kernel(CutBatch batch, CutGrid grid, std::uint64_t* sizes) {
  CutPlace const place(grid);
  for (std::uint32_t t = blockIdx.y; t < batch.count; t += gridDim.y) {
    CutTile const tile = batch.tiles[t];
    std::uint32_t const end = place.end(mask_row_bytes(tile.real_columns));
    for (std::uint32_t step = 0; step < kRowsPerThread; ++step) {
      std::uint32_t const y = place.row(step);
      if (y >= tile.real_rows || !is_marked(sizes + t)) { break; }
      MaskRow const row = mask_row(tile, batch.rows[tile.rows], y);
      for (std::uint32_t byte = place.first(); byte < end; byte += place.stride()) {
        if (mask_byte(row, byte * kMaskPixels, tile.real_columns) != 0) {
          unmark(sizes + t);
          break;
        }
      }
    }
  }
}

// `look` launches the kernel that clears marks.
template <class Look>
void clear_sizes(CutBatch const& batch, std::uint64_t* sizes, cudaStream_t stream, Look const& look) {
  if (batch.count == 0 || batch.max_height == 0 || batch.max_width == 0) { return; }
  unsigned const blocks = batch.count / kCutThreads + (batch.count % kCutThreads != 0 ? 1 : 0);
  mark_kernel<<<blocks, kCutThreads, 0, stream>>>(sizes, batch.count);
  check_launch("marking tiles as empty");
  look();
  clear_kernel<<<blocks, kCutThreads, 0, stream>>>(sizes, batch.count);
  check_launch("clearing sizes of empty tiles");
}

template <class T>
void look_at_tiles(CutBatch const& batch, CutFormat const& format, std::uint64_t* sizes, cudaStream_t stream) {
  constexpr std::uint32_t kCount = tile::kChunkSamples<T>;
  std::uint32_t const samples = row_samples(batch, format);
  CutGrid const grid = make_cut_grid(batch.max_height, samples / kCount + (samples % kCount != 0 ? 1 : 0));
  tile_kernel<T>
      <<<grid.blocks(batch.count), kCutThreads, 0, stream>>>(batch, format, is_complex(format.dtype), grid, sizes);
  check_launch("looking for empty tiles");
}

}  // namespace

void clear_empty_tiles(CutBatch const& batch, CutFormat const& any_format, std::uint64_t* sizes, cudaStream_t stream) {
  CutFormat const format = checked_format(any_format);
  clear_sizes(batch, sizes, stream, [&] {
    switch (size_bytes(format.dtype)) {
      case 1: return look_at_tiles<std::uint8_t>(batch, format, sizes, stream);
      case 2: return look_at_tiles<std::uint16_t>(batch, format, sizes, stream);
      case 4: return look_at_tiles<std::uint32_t>(batch, format, sizes, stream);
      case 8: return look_at_tiles<std::uint64_t>(batch, format, sizes, stream);
      default: return look_at_tiles<tile::Sample16>(batch, format, sizes, stream);
    }
  });
}

void clear_empty_masks(CutBatch const& batch, std::uint64_t* sizes, cudaStream_t stream) {
  clear_sizes(batch, sizes, stream, [&] {
    CutGrid const grid = make_cut_grid(batch.max_height, mask_row_bytes(batch.max_width));
    mask_kernel<<<grid.blocks(batch.count), kCutThreads, 0, stream>>>(batch, grid, sizes);
    check_launch("looking for empty masks");
  });
}

}  // namespace terrazzo::gpu
