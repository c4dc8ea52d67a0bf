// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/adler32.hpp"

#include "gpu/runtime/check.hpp"
#include "tile/adler32.hpp"

namespace terrazzo::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kTrailerBytes = 4;

// A block has a tile. Its output begins at a multiple of 16 bytes.
__global__ void adler32_kernel(tile::DeviceTiles tiles) {
  std::uint32_t const i = blockIdx.x;
  if (tiles.statuses[i] != tile::TileStatus::ok) { return; }
  std::uint64_t const size = tiles.output_sizes[i];
  std::byte const* const data = tiles.output + tiles.output_offsets[i];
  tile::AdlerSums sums;
  std::uint64_t const vectors = size / 16;
  for (std::uint64_t v = threadIdx.x; v < vectors; v += kThreads) {
    uint4 const words = reinterpret_cast<uint4 const*>(data)[v];
    std::uint32_t const word[4] = {words.x, words.y, words.z, words.w};
    for (unsigned b = 0; b < 16; ++b) { sums.add((word[b / 4] >> (8 * (b % 4))) & 0xFFU, size - (v * 16 + b)); }
  }
  std::uint64_t const rest = vectors * 16 + threadIdx.x;
  if (rest < size) { sums.add(static_cast<std::uint32_t>(data[rest]), size - rest); }

  __shared__ unsigned long long total[2];
  if (threadIdx.x < 2) { total[threadIdx.x] = 0; }
  __syncthreads();
  tile::AdlerSums const own = sums.reduced();
  atomicAdd(&total[0], static_cast<unsigned long long>(own.bytes));
  atomicAdd(&total[1], static_cast<unsigned long long>(own.weighted));
  __syncthreads();
  if (threadIdx.x != 0) { return; }
  std::byte const* const trailer = tiles.input + tiles.input_offsets[i] + tiles.input_sizes[i] - kTrailerBytes;
  std::uint32_t expected = 0;
  for (unsigned b = 0; b < kTrailerBytes; ++b) { expected = (expected << 8) | static_cast<std::uint32_t>(trailer[b]); }
  if (tile::adler32_of({total[0], total[1]}, size) != expected) { tiles.statuses[i] = tile::TileStatus::unsupported; }
}

}  // namespace

void check_adler32(tile::DeviceTiles const& tiles, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  adler32_kernel<<<tiles.count, kThreads, 0, stream>>>(tiles);
  check_launch("checking Adler-32");
}

}  // namespace terrazzo::gpu
