// SPDX-License-Identifier: Apache-2.0
//
// Two kernels: one block computes every tile's offset by a running sum, then all blocks copy.
#include "gpu/encode/pack_encoded.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/transfer/copy_bytes.cuh"

#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <cstdint>

namespace terrazzo::gpu {
namespace {

// A batch has thousands of tiles, seldom 100,000: one block handles 2048 per step.
constexpr int kScanThreads = 512;
constexpr int kTilesPerThread = 4;
constexpr std::uint64_t kStepTiles = std::uint64_t{kScanThreads} * kTilesPerThread;

__global__ void __launch_bounds__(kScanThreads) place_kernel(tile::EncodeBatch batch, PackedTile* places) {
  using Scan = cub::BlockScan<std::uint64_t, kScanThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Scan::TempStorage storage;
  std::uint64_t before = 0;  // room of all earlier steps
  for (std::uint64_t step = 0; step < batch.count; step += kStepTiles) {
    std::uint64_t const first = step + std::uint64_t{threadIdx.x} * kTilesPerThread;
    std::uint64_t rooms[kTilesPerThread];
    for (int k = 0; k < kTilesPerThread; ++k) {
      std::uint64_t const i = first + static_cast<std::uint64_t>(k);
      rooms[k] = i < batch.count ? pack_source(batch, static_cast<std::uint32_t>(i)).room() : 0;
    }
    std::uint64_t all = 0;
    Scan(storage).ExclusiveSum(rooms, rooms, all);
    for (int k = 0; k < kTilesPerThread; ++k) {
      std::uint64_t const i = first + static_cast<std::uint64_t>(k);
      if (i >= batch.count) { break; }
      PackSource const source = pack_source(batch, static_cast<std::uint32_t>(i));
      std::uint64_t const offset = source.size == 0 ? 0 : before + rooms[k] + source.phase();
      places[i] = {offset, source.size, source.status};
    }
    before += all;
    __syncthreads();  // the next step reuses the scan's memory
  }
}

__global__ void __launch_bounds__(kCopyThreads)
    copy_kernel(tile::EncodeBatch batch, std::byte* packed, PackedTile const* places) {
  for (std::uint64_t i = blockIdx.y; i < batch.count; i += gridDim.y) {
    PackedTile const place = places[i];
    if (place.size == 0) { continue; }
    std::byte const* const from = place.status == tile::TileStatus::ok ? batch.output + batch.output_offsets[i]
                                                                       : batch.input + batch.input_offsets[i];
    copy_pieces(from, packed + place.offset, place.size);
  }
}

}  // namespace

void pack_encoded(tile::EncodeBatch const& batch, std::byte* packed, PackedTile* places, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  place_kernel<<<1, kScanThreads, 0, stream>>>(batch, places);
  check_launch("placing encoded tiles");
  dim3 const grid = copy_grid(batch.count, std::max<std::uint64_t>(batch.longest_input_bytes, 1));
  copy_kernel<<<grid, kCopyThreads, 0, stream>>>(batch, packed, places);
  check_launch("packing encoded tiles");
}

}  // namespace terrazzo::gpu
