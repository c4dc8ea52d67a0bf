// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_encode_batch.hpp"

#include "gpu/runtime/check.hpp"
#include "tile/adler32_block.cuh"

#include <algorithm>

namespace terrazzo::gpu {
namespace {

// One thread a tile: a batch has thousands, and the work is a dozen loads. Small blocks spread them over the SMs.
constexpr unsigned kThreads = 64;

unsigned blocks_for(std::uint32_t count) noexcept { return count / kThreads + (count % kThreads != 0 ? 1 : 0); }

__global__ void prepare_kernel(NvcompCodec codec, tile::EncodeBatch batch, NvcompEncodeLimits limits,
                               NvcompEncodeArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < kEncodeStandInBytes) { arrays.stand_in_input[threadIdx.x] = std::byte{0}; }
  if (i < batch.count) { prepare_encode_tile(codec, batch, limits, arrays, i); }
}

__global__ void finish_kernel(NvcompCodec codec, std::uint8_t level_byte, tile::EncodeBatch batch,
                              NvcompEncodeLimits limits, NvcompEncodeArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (i < batch.count) { finish_encode_tile(codec, level_byte, batch, limits, arrays, i); }
}

// Blocks share a tile in pieces, and a tile is a column of the grid: many small tiles and one huge one both fill the
// device. Sums of whole numbers: the order in which blocks add theirs does not matter.
constexpr std::uint64_t kPieceBytes = 64 * 1024;  // 16 vectors a thread
constexpr std::uint64_t kMaxColumns = 65535;  // of a grid's second dimension

__global__ void __launch_bounds__(tile::kAdlerThreads)
    adler_kernel(tile::EncodeBatch batch, unsigned long long* adler_sums) {
  for (std::uint64_t i = blockIdx.y; i < batch.count; i += gridDim.y) {
    std::uint64_t const size = batch.input_sizes[i];
    std::uint64_t const from = blockIdx.x * kPieceBytes;
    if (batch.statuses[i] != tile::TileStatus::ok || from >= size) { continue; }
    std::uint64_t const to = size - from < kPieceBytes ? size : from + kPieceBytes;
    tile::AdlerSums const share =
        tile::adler_share(batch.input + batch.input_offsets[i], size, from, to, threadIdx.x, tile::kAdlerThreads);
    tile::AdlerSums const sums = tile::adler_block_sums(share);
    if (threadIdx.x == 0) {
      atomicAdd(&adler_sums[i * 2], static_cast<unsigned long long>(sums.bytes));
      atomicAdd(&adler_sums[i * 2 + 1], static_cast<unsigned long long>(sums.weighted));
    }
    __syncthreads();  // thread 0 has read what the next tile's sums overwrite
  }
}

}  // namespace

static_assert(kThreads >= kEncodeStandInBytes, "the first block writes the stand-in");

void prepare_nvcomp_encode(NvcompCodec codec, tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                           NvcompEncodeArrays const& arrays, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  prepare_kernel<<<blocks_for(batch.count), kThreads, 0, stream>>>(codec, batch, limits, arrays);
  check_launch("preparing a batch for nvCOMP");
}

void sum_for_adler32(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits, NvcompEncodeArrays const& arrays,
                     cudaStream_t stream) {
  if (batch.count == 0 || limits.longest_bytes == 0) { return; }
  std::uint64_t const pieces = limits.longest_bytes / kPieceBytes + (limits.longest_bytes % kPieceBytes != 0 ? 1 : 0);
  dim3 const grid(static_cast<unsigned>(pieces),  // at most 32768: tiles are below 2 GiB
                  static_cast<unsigned>(std::min<std::uint64_t>(batch.count, kMaxColumns)));
  adler_kernel<<<grid, tile::kAdlerThreads, 0, stream>>>(batch, arrays.adler_sums);
  check_launch("summing for Adler-32");
}

void finish_nvcomp_encode(NvcompCodec codec, std::uint8_t level_byte, tile::EncodeBatch const& batch,
                          NvcompEncodeLimits const& limits, NvcompEncodeArrays const& arrays, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  finish_kernel<<<blocks_for(batch.count), kThreads, 0, stream>>>(codec, level_byte, batch, limits, arrays);
  check_launch("framing what nvCOMP encoded");
}

}  // namespace terrazzo::gpu
