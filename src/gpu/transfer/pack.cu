// SPDX-License-Identifier: Apache-2.0
//
// Copies 16 bytes at a time if source and destination have the same alignment. Only deflate tiles, which start two
// bytes before an aligned stream, may differ.
#include "gpu/transfer/pack.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/transfer/copy_bytes.cuh"

#include <cstdint>

namespace terrazzo::gpu {
namespace {

__global__ void __launch_bounds__(kCopyThreads) pack_kernel(tile::DeviceTiles tiles, PackList list) {
  for (std::uint64_t chosen = blockIdx.y; chosen < list.count; chosen += gridDim.y) {
    std::uint32_t const tile = list.tiles[chosen];
    if (tile >= tiles.count) { continue; }
    copy_pieces(tiles.input + tiles.input_offsets[tile], list.packed + list.packed_offsets[chosen],
                tiles.input_sizes[tile]);
  }
}

}  // namespace

void pack_tiles(tile::DeviceTiles const& tiles, PackList const& list, cudaStream_t stream) {
  if (list.count == 0 || list.longest_bytes == 0) { return; }
  pack_kernel<<<copy_grid(list.count, list.longest_bytes), kCopyThreads, 0, stream>>>(tiles, list);
  check_launch("packing tiles");
}

}  // namespace terrazzo::gpu
