// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/inflate.hpp"

#include "coding/deflate/inflate.hpp"
#include "gpu/decode/block_team.cuh"
#include "gpu/runtime/check.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

// Blocks per multiprocessor that registers allow: as many as the shared memory of an H200 does.
// Without the number nvcc 13 takes 40 registers for sm_80 and spills.
constexpr unsigned kBlocks = 7;

// One block per tile.
__global__ void __launch_bounds__(coding::kTeamLanes, kBlocks) inflate_kernel(tile::DeviceTiles tiles) {
  extern __shared__ uint4 shared_memory[];
  auto& shared = *reinterpret_cast<coding::InflateShared*>(shared_memory);
  std::uint32_t const i = blockIdx.x;
  tile::TileStatus const status =
      coding::inflate_zlib(BlockTeam{}, shared, tiles.input + tiles.input_offsets[i], tiles.input_sizes[i],
                           tiles.output + tiles.output_offsets[i], tiles.output_sizes[i]);
  if (threadIdx.x == 0) { tiles.statuses[i] = status; }
}

// More needs an attribute of the kernel.
static_assert(sizeof(coding::InflateShared) <= 48 * 1024);
// Of 228 KiB, 1 KiB a block is the system's.
static_assert(kBlocks * (sizeof(coding::InflateShared) + 1024) <= 228 * 1024);

}  // namespace

void decode_deflate(tile::DeviceTiles const& tiles, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  inflate_kernel<<<tiles.count, coding::kTeamLanes, sizeof(coding::InflateShared), stream>>>(tiles);
  check_launch("Deflate");
}

}  // namespace terrazzo::gpu
