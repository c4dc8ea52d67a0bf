// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_rank.hpp"
#include "tile/reduce_samples.hpp"

namespace terrazzo::gpu {

void launch_mask(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                 tile::KernelAxisView const& rows, cudaStream_t stream) {
  switch (spec.method) {
    case Resampling::nearest: return make_mask(tile::MakeNearestMask{task}, stream);
    case Resampling::mode: return make_mask(tile::MakeMajorityMask{task}, stream);
    case Resampling::bilinear:
    case Resampling::cubic:
    case Resampling::cubic_spline:
    case Resampling::lanczos:
      return make_mask(tile::MakeFilteredMask{task, columns, rows, tile::has_negative_weights(spec.method)}, stream);
    default: return make_mask(tile::MakeAnyMask{task, is_complex(spec.dtype)}, stream);
  }
}

}  // namespace terrazzo::gpu
