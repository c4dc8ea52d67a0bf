// SPDX-License-Identifier: Apache-2.0
//
// The kernels of DeviceReduction, by method; for reduce.cpp only. Each launches on `stream` and returns. The task uses
// device memory, has at least one row to make, and was checked against the spec.
#pragma once

#include "tile/reduce_convolution.hpp"
#include "tile/reduce_task.hpp"
#include "tile/reduction_spec.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

void launch_nearest(tile::ReduceTask const& task, DType dtype, cudaStream_t stream);
void launch_average(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
// The fast average of real samples; returns false if it does not support the task.
[[nodiscard]] bool launch_halves(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_rms(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_complex(tile::ReduceTask const& task, DType dtype, bool of_squares, cudaStream_t stream);
void launch_rank(tile::ReduceTask const& task, tile::ReductionSpec const& spec, cudaStream_t stream);
void launch_filter(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                   tile::KernelAxisView const& rows, cudaStream_t stream);

// Reduces the mask, for any method.
void launch_mask(tile::ReduceTask const& task, tile::ReductionSpec const& spec, tile::KernelAxisView const& columns,
                 tile::KernelAxisView const& rows, cudaStream_t stream);

}  // namespace terrazzo::gpu
