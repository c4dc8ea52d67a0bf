// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/zstd.hpp"

#include "coding/zstd/decode.hpp"
#include "gpu/decode/block_team.cuh"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace terrazzo::gpu {
namespace {

// Blocks per multiprocessor that registers allow: as many as the shared memory of an H200 does.
constexpr unsigned kBlocks = 7;

// Each block decodes every gridDim.x-th tile.
__global__ void __launch_bounds__(coding::kTeamLanes, kBlocks)
    zstd_kernel(tile::DeviceTiles tiles, std::byte* scratch) {
  extern __shared__ uint4 shared_memory[];
  auto& shared = *reinterpret_cast<coding::ZstdShared*>(shared_memory);
  std::byte* const own_scratch = scratch + std::size_t{blockIdx.x} * coding::kZstdScratchBytes;
  for (std::uint32_t i = blockIdx.x; i < tiles.count; i += gridDim.x) {
    tile::TileStatus const status =
        coding::zstd_decode(BlockTeam{}, shared, tiles.input + tiles.input_offsets[i], tiles.input_sizes[i],
                            tiles.output + tiles.output_offsets[i], tiles.output_sizes[i], own_scratch);
    if (threadIdx.x == 0) { tiles.statuses[i] = status; }
    __syncthreads();  // the next tile uses the same memory
  }
}

// More needs an attribute of the kernel.
static_assert(sizeof(coding::ZstdShared) <= 48 * 1024);
// Of 228 KiB, 1 KiB a block is the system's.
static_assert(kBlocks * (sizeof(coding::ZstdShared) + 1024) <= 228 * 1024);

// As many blocks as run at once.
std::uint32_t block_count(std::uint32_t tile_count) {
  int device = 0, multiprocessors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "ZSTD: asking for the device");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ZSTD: asking for the device");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, zstd_kernel, coding::kTeamLanes,
                                                           sizeof(coding::ZstdShared)),
             "ZSTD: asking for shared memory");
  return std::min(tile_count, static_cast<std::uint32_t>(multiprocessors) * static_cast<std::uint32_t>(blocks));
}

}  // namespace

std::size_t zstd_decode_scratch_bytes(std::uint32_t tile_count) {
  return std::size_t{block_count(tile_count)} * coding::kZstdScratchBytes;
}

void decode_zstd(tile::DeviceTiles const& tiles, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  std::uint32_t const blocks = block_count(tiles.count);
  if (scratch_bytes < std::size_t{blocks} * coding::kZstdScratchBytes) {
    throw Error(ErrorKind::usage, "ZSTD: less scratch memory than the batch needs");
  }
  zstd_kernel<<<blocks, coding::kTeamLanes, sizeof(coding::ZstdShared), stream>>>(tiles, scratch);
  check_launch("ZSTD");
}

}  // namespace terrazzo::gpu
