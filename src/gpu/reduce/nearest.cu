// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_samples.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

void launch_nearest(tile::ReduceTask const& task, DType dtype, cudaStream_t stream) {
  std::uint32_t const parts = is_complex(dtype) ? 2 : 1;
  switch (size_bytes(dtype) / parts) {
    case 1: return make_bands(tile::MakeNearest<std::uint8_t>{task, parts}, stream);
    case 2: return make_bands(tile::MakeNearest<std::uint16_t>{task, parts}, stream);
    case 4: return make_bands(tile::MakeNearest<std::uint32_t>{task, parts}, stream);
    default: return make_bands(tile::MakeNearest<std::uint64_t>{task, parts}, stream);
  }
}

}  // namespace terrazzo::gpu
