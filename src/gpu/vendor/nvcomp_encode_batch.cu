// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_encode_batch.hpp"

#include "gpu/runtime/check.hpp"

namespace terrazzo::gpu {
namespace {

// One thread a tile: a batch has thousands, and the work is a dozen loads. Small blocks spread them over the SMs.
constexpr unsigned kThreads = 64;

unsigned blocks_for(std::uint32_t count) noexcept { return count / kThreads + (count % kThreads != 0 ? 1 : 0); }

__global__ void prepare_kernel(tile::EncodeBatch batch, NvcompEncodeLimits limits, NvcompEncodeArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < kEncodeStandInBytes) { arrays.stand_in_input[threadIdx.x] = std::byte{0}; }
  if (i < batch.count) { prepare_encode_tile(batch, limits, arrays, i); }
}

__global__ void finish_kernel(tile::EncodeBatch batch, NvcompEncodeLimits limits, NvcompEncodeArrays arrays) {
  std::uint32_t const i = blockIdx.x * kThreads + threadIdx.x;
  if (i < batch.count) { finish_encode_tile(batch, limits, arrays, i); }
}

}  // namespace

static_assert(kThreads >= kEncodeStandInBytes, "the first block writes the stand-in");

void prepare_nvcomp_encode(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                           NvcompEncodeArrays const& arrays, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  prepare_kernel<<<blocks_for(batch.count), kThreads, 0, stream>>>(batch, limits, arrays);
  check_launch("preparing a batch for nvCOMP");
}

void finish_nvcomp_encode(tile::EncodeBatch const& batch, NvcompEncodeLimits const& limits,
                          NvcompEncodeArrays const& arrays, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  finish_kernel<<<blocks_for(batch.count), kThreads, 0, stream>>>(batch, limits, arrays);
  check_launch("taking what nvCOMP encoded");
}

}  // namespace terrazzo::gpu
