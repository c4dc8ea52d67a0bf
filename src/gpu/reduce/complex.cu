// SPDX-License-Identifier: Apache-2.0
//
// Average and root mean square of complex samples.
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_samples.hpp"

#include <cstdint>

namespace terrazzo::gpu {

void launch_complex(tile::ReduceTask const& task, DType dtype, bool of_squares, cudaStream_t stream) {
  switch (dtype) {
    case DType::ci16: return make_bands(tile::MakeComplex<std::int16_t>{task, of_squares}, stream);
    case DType::ci32: return make_bands(tile::MakeComplex<std::int32_t>{task, of_squares}, stream);
    case DType::cf16: return make_bands(tile::MakeComplex<tile::Half>{task, of_squares}, stream);
    case DType::cf32: return make_bands(tile::MakeComplex<float>{task, of_squares}, stream);
    default: return make_bands(tile::MakeComplex<double>{task, of_squares}, stream);
  }
}

}  // namespace terrazzo::gpu
