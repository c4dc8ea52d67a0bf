// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_batch.hpp"

#include "gpu/runtime/check.hpp"

namespace terrazzo::gpu {
namespace {

// One thread per tile: a batch has thousands, and the work is a dozen loads. Small blocks spread them over the SMs.
constexpr unsigned kThreads = 64;

unsigned blocks_for(std::uint32_t count) noexcept { return count / kThreads + (count % kThreads != 0 ? 1 : 0); }

__global__ void prepare_kernel(NvcompCodec codec, tile::DeviceTiles tiles, NvcompLimits limits, NvcompArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < kStandInInputBytes) {
    arrays.stand_in_input[threadIdx.x] = static_cast<std::byte>(stand_in_byte(codec, threadIdx.x));
  }
  if (i < tiles.count) { prepare_tile(codec, tiles, limits, arrays, i); }
}

__global__ void finish_kernel(tile::DeviceTiles tiles, NvcompArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (i < tiles.count) { finish_tile(tiles, arrays, i); }
}

}  // namespace

static_assert(kThreads >= kStandInInputBytes, "the first block writes the stand-in stream");

void prepare_nvcomp_batch(NvcompCodec codec, tile::DeviceTiles const& tiles, NvcompLimits const& limits,
                          NvcompArrays const& arrays, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  prepare_kernel<<<blocks_for(tiles.count), kThreads, 0, stream>>>(codec, tiles, limits, arrays);
  check_launch("preparing a batch for nvCOMP");
}

void finish_nvcomp_batch(tile::DeviceTiles const& tiles, NvcompArrays const& arrays, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  finish_kernel<<<blocks_for(tiles.count), kThreads, 0, stream>>>(tiles, arrays);
  check_launch("reading nvCOMP's statuses");
}

}  // namespace terrazzo::gpu
