// SPDX-License-Identifier: Apache-2.0
//
// One block per tile: most tiles have a few dozen parts, so parallelism comes from the blocks of a batch.
#include "gpu/encode/part_starts.hpp"

#include "gpu/runtime/check.hpp"

#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kMostBlocks = 0x7FFFFFFF;

__global__ void __launch_bounds__(kThreads) starts_kernel(tile::EncodeBatch batch, TileParts parts) {
  using Scan = cub::BlockScan<unsigned long long, kThreads>;
  __shared__ typename Scan::TempStorage shared;
  for (std::uint64_t tile = blockIdx.x; tile < batch.count; tile += gridDim.x) {
    std::uint64_t const part_count = (batch.input_sizes[tile] + parts.part_bytes - 1) / parts.part_bytes;
    std::uint32_t const* const sizes = parts.sizes + tile * parts.parts_a_tile;
    std::uint64_t* const starts = parts.starts + tile * (parts.parts_a_tile + 1);
    unsigned long long before = 0;
    for (std::uint64_t first = 0; first < part_count; first += kThreads) {
      std::uint64_t const part = first + threadIdx.x;
      unsigned long long start = part < part_count ? sizes[part] : 0;
      unsigned long long sum = 0;
      Scan(shared).ExclusiveSum(start, start, sum);
      if (part < part_count) { starts[part] = before + start; }
      before += sum;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      starts[part_count] = before;
      std::uint64_t const units = part_count == 0 ? 0 : parts.units_in_front + before;
      batch.output_sizes[tile] = (units + parts.units_a_byte - 1) / parts.units_a_byte;
      batch.statuses[tile] = part_count == 0 ? tile::TileStatus::sparse : tile::TileStatus::ok;
    }
  }
}

}  // namespace

std::size_t tile_parts_bytes(std::uint32_t tile_count, std::uint64_t parts_a_tile) noexcept {
  std::uint64_t const starts = (parts_a_tile + 1) * sizeof(std::uint64_t);
  std::uint64_t const sizes = parts_a_tile * sizeof(std::uint32_t);
  return (tile_count * (starts + sizes) + 15) / 16 * 16;
}

TileParts place_tile_parts(std::byte* memory, std::uint32_t tile_count, std::uint64_t parts_a_tile,
                           std::uint64_t part_bytes) noexcept {
  auto* const starts = reinterpret_cast<std::uint64_t*>(memory);
  return {.sizes = reinterpret_cast<std::uint32_t*>(starts + tile_count * (parts_a_tile + 1)),
          .starts = starts,
          .parts_a_tile = parts_a_tile,
          .part_bytes = part_bytes};
}

void find_part_starts(tile::EncodeBatch const& batch, TileParts const& parts, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  std::uint32_t const blocks = batch.count < kMostBlocks ? batch.count : kMostBlocks;
  starts_kernel<<<blocks, kThreads, 0, stream>>>(batch, parts);
  check_launch("encoding: adding up the parts of tiles");
}

}  // namespace terrazzo::gpu
