// SPDX-License-Identifier: Apache-2.0
//
// Minimum, maximum, median and mode. Threads do not store their windows: windows of the usual ratios stay in the L1
// cache while a thread reads them again.
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_rank.hpp"

#include <type_traits>

namespace terrazzo::gpu {

void launch_rank(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream) {
  with_real_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    tile::Marker<T> const marker = tile::make_marker<T>(spec);
    switch (spec.method) {
      case Resampling::minimum: return make_bands(tile::MakeRanked<T, tile::PickSmallest>{task, marker}, stream);
      case Resampling::maximum: return make_bands(tile::MakeRanked<T, tile::PickLargest>{task, marker}, stream);
      case Resampling::median: return make_bands(tile::MakeRanked<T, tile::PickMiddle>{task, marker}, stream);
      default: return make_bands(tile::MakeRanked<T, tile::PickMostFrequent>{task, marker}, stream);
    }
  });
}

}  // namespace terrazzo::gpu
