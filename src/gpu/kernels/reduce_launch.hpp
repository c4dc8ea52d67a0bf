// SPDX-License-Identifier: Apache-2.0
//
// The kernels behind DeviceReduction, by method; for reduce.cpp alone. Each launches on `stream` and returns. The task
// is of device memory, has at least one row to make, and was checked against the spec.
#pragma once

#include "tile/reduce_kernel.hpp"
#include "tile/reduce_task.hpp"
#include "tile/reduction_spec.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

void launch_nearest(tile::ReduceTask const& task, DType dtype, cudaStream_t stream);
void launch_average(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
// The average of real samples where it can be had fast; false where it cannot.
[[nodiscard]] bool launch_halves(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_rms(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_complex(tile::ReduceTask const& task, DType dtype, bool of_squares, cudaStream_t stream);
void launch_rank(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_filter(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                   tile::KernelAxisView const& rows, cudaStream_t stream);

// The mask of any method.
void launch_mask(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                 tile::KernelAxisView const& rows, cudaStream_t stream);

}  // namespace terrazzo::gpu
