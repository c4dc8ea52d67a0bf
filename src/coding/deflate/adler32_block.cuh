// SPDX-License-Identifier: Apache-2.0
//
// zlib's checksum computed by the threads of a block; shared by kernels that check it and kernels that make it.
#pragma once

#include "coding/deflate/adler32.hpp"

#include <cstdint>

namespace terrazzo::coding {

inline constexpr unsigned kAdlerThreads = 256;

// The sums over the block's kAdlerThreads threads, valid in thread 0 only and below 2^24 each. All threads call it,
// once per kernel or with a barrier in between.
__device__ inline AdlerSums adler_block_sums(AdlerSums const& share) {
  constexpr unsigned kLanes = 32;
  constexpr unsigned kAll = 0xFFFFFFFFU;
  __shared__ std::uint32_t warp_bytes[kAdlerThreads / kLanes];
  __shared__ std::uint32_t warp_weighted[kAdlerThreads / kLanes];
  AdlerSums const own = share.reduced();
  auto bytes = static_cast<std::uint32_t>(own.bytes);  // 256 times a value below 65521 stays below 2^24
  auto weighted = static_cast<std::uint32_t>(own.weighted);
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    bytes += __shfl_down_sync(kAll, bytes, distance);
    weighted += __shfl_down_sync(kAll, weighted, distance);
  }
  if (threadIdx.x % kLanes == 0) {
    warp_bytes[threadIdx.x / kLanes] = bytes;
    warp_weighted[threadIdx.x / kLanes] = weighted;
  }
  __syncthreads();
  AdlerSums total;
  if (threadIdx.x == 0) {
    for (unsigned warp = 0; warp < kAdlerThreads / kLanes; ++warp) {
      total.bytes += warp_bytes[warp];
      total.weighted += warp_weighted[warp];
    }
  }
  return total;
}

}  // namespace terrazzo::coding
