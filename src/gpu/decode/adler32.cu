// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/adler32.hpp"

#include "coding/deflate/adler32_block.cuh"
#include "gpu/runtime/check.hpp"

namespace terrazzo::gpu {

namespace {

constexpr std::uint64_t kTrailerBytes = 4;

// One block per tile. A tile's output begins at a multiple of 16 bytes.
__global__ void __launch_bounds__(coding::kAdlerThreads) adler32_kernel(tile::DeviceTiles tiles) {
  std::uint32_t const i = blockIdx.x;
  if (tiles.statuses[i] != tile::TileStatus::ok) { return; }
  std::uint64_t const size = tiles.output_sizes[i];
  std::byte const* const data = tiles.output + tiles.output_offsets[i];
  coding::AdlerSums const total =
      coding::adler_block_sums(coding::adler_share(data, size, 0, size, threadIdx.x, coding::kAdlerThreads));
  if (threadIdx.x != 0) { return; }
  std::byte const* const trailer = tiles.input + tiles.input_offsets[i] + tiles.input_sizes[i] - kTrailerBytes;
  std::uint32_t expected = 0;
  for (unsigned b = 0; b < kTrailerBytes; ++b) { expected = (expected << 8) | static_cast<std::uint32_t>(trailer[b]); }
  if (coding::adler32_of(total, size) != expected) { tiles.statuses[i] = tile::TileStatus::unsupported; }
}

}  // namespace

void check_adler32(tile::DeviceTiles const& tiles, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  adler32_kernel<<<tiles.count, coding::kAdlerThreads, 0, stream>>>(tiles);
  check_launch("checking Adler-32");
}

}  // namespace terrazzo::gpu
