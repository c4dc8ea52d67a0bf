// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_samples.hpp"

#include <type_traits>

namespace terrazzo::gpu {

void launch_rms(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream) {
  if (is_complex(spec.dtype)) { return launch_complex(task, spec.dtype, true, stream); }
  with_real_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    make_bands(tile::MakeRms<T>{task, tile::make_marker<T>(spec)}, stream);
  });
}

}  // namespace terrazzo::gpu
