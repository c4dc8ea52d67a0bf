// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/adler32.hpp"

#include "gpu/runtime/check.hpp"
#include "tile/adler32_block.cuh"

namespace terrazzo::gpu {

namespace {

constexpr std::uint64_t kTrailerBytes = 4;

// A block has a tile. Its output begins at a multiple of 16 bytes.
__global__ void __launch_bounds__(tile::kAdlerThreads) adler32_kernel(tile::DeviceTiles tiles) {
  std::uint32_t const i = blockIdx.x;
  if (tiles.statuses[i] != tile::TileStatus::ok) { return; }
  std::uint64_t const size = tiles.output_sizes[i];
  std::byte const* const data = tiles.output + tiles.output_offsets[i];
  tile::AdlerSums const total =
      tile::adler_block_sums(tile::adler_share(data, size, 0, size, threadIdx.x, tile::kAdlerThreads));
  if (threadIdx.x != 0) { return; }
  std::byte const* const trailer = tiles.input + tiles.input_offsets[i] + tiles.input_sizes[i] - kTrailerBytes;
  std::uint32_t expected = 0;
  for (unsigned b = 0; b < kTrailerBytes; ++b) { expected = (expected << 8) | static_cast<std::uint32_t>(trailer[b]); }
  if (tile::adler32_of(total, size) != expected) { tiles.statuses[i] = tile::TileStatus::unsupported; }
}

}  // namespace

void check_adler32(tile::DeviceTiles const& tiles, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  adler32_kernel<<<tiles.count, tile::kAdlerThreads, 0, stream>>>(tiles);
  check_launch("checking Adler-32");
}

}  // namespace terrazzo::gpu
