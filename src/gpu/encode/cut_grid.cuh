// SPDX-License-Identifier: Apache-2.0
//
// Divides the rows of tiles among threads: a row has a power of two of threads side by side, which avoids divisions;
// short rows share a block, long rows have several. grid.x: groups of rows and pieces of a row, grid.y: tiles.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace terrazzo::gpu {

inline constexpr std::uint32_t kCutThreads = 256;
inline constexpr std::uint32_t kRowsPerThread = 4;  // rows per thread, in turn: constants of a tile are loaded once
inline constexpr std::uint32_t kChunksPerThread = 4;  // chunks of a row, at most; a longer row has more pieces

struct CutGrid {
  std::uint32_t row_threads_log2 = 0;
  std::uint32_t pieces = 1;  // per row
  std::uint32_t groups = 1;  // groups of kRowsPerThread rows per thread

  [[nodiscard]] dim3 blocks(std::uint32_t tiles) const { return dim3(groups * pieces, tiles < 65535 ? tiles : 65535); }
};

// For `rows` rows of at most `chunks` pieces of work, and occasionally `spare` more. The first dimension of a grid is
// limited to 2^31 blocks, which are terabytes of a tile.
[[nodiscard]] inline CutGrid make_cut_grid(std::uint32_t rows, std::uint32_t chunks, std::uint32_t spare = 0) {
  auto const share = [](std::uint32_t all, std::uint32_t part) { return all / part + (all % part != 0 ? 1 : 0); };
  std::uint32_t const threads = std::bit_ceil(std::clamp(chunks, 1U, kCutThreads));
  return {static_cast<std::uint32_t>(std::countr_zero(threads)),
          std::max(share(chunks + spare, threads * kChunksPerThread), 1U),
          share(rows, kCutThreads / threads * kRowsPerThread)};
}

// This thread's part of every tile.
class CutPlace {
 public:
  __device__ explicit CutPlace(CutGrid const& grid)
      : stride_(1U << grid.row_threads_log2),
        rows_(kCutThreads >> grid.row_threads_log2),
        first_row_(blockIdx.x / grid.pieces * rows_ * kRowsPerThread + (threadIdx.x >> grid.row_threads_log2)),
        piece_(blockIdx.x % grid.pieces * stride_ * kChunksPerThread),
        first_(piece_ + (threadIdx.x & (stride_ - 1))) {}

  [[nodiscard]] __device__ std::uint32_t row(std::uint32_t step) const { return first_row_ + step * rows_; }
  [[nodiscard]] __device__ std::uint32_t first() const { return first_; }
  [[nodiscard]] __device__ std::uint32_t stride() const { return stride_; }
  // The end of the chunks in this piece of a row of `chunks`.
  [[nodiscard]] __device__ std::uint32_t end(std::uint32_t chunks) const {
    std::uint32_t const end = piece_ + stride_ * kChunksPerThread;
    return end < chunks ? end : chunks;
  }

 private:
  std::uint32_t stride_, rows_, first_row_, piece_, first_;
};

}  // namespace terrazzo::gpu
