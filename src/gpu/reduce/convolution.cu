// SPDX-License-Identifier: Apache-2.0
//
// Bilinear, cubic, cubic spline and Lanczos. Each thread makes a few vertically adjacent samples, whose windows share
// most rows.
#include "gpu/reduce/launch.hpp"

#include "gpu/reduce/rows.cuh"
#include "tile/reduce_convolution.hpp"

#include <type_traits>

namespace terrazzo::gpu {

void launch_filter(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                   tile::KernelAxisView const& rows, cudaStream_t stream) {
  bool const has_negative_weights = tile::has_negative_weights(spec.method);
  with_real_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    tile::Marker<T> const marker = tile::make_marker<T>(spec);
    if (marker.present || task.has_mask || task.has_alpha) {
      make_bands(tile::MakeFiltered<T, true>{task, marker, columns, rows, has_negative_weights}, stream);
    } else {
      make_bands(tile::MakeFiltered<T, false>{task, marker, columns, rows, has_negative_weights}, stream);
    }
  });
}

}  // namespace terrazzo::gpu
