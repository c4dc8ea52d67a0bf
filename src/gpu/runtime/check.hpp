// SPDX-License-Identifier: Apache-2.0
//
// Checks every CUDA call of the library: a failure is a `device` Error that names the operation.
#pragma once

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Throws `device` if the device is lost (lost_device.hpp), for any result; otherwise for every result except success:
// "uploading a batch: cudaErrorIllegalAddress (an illegal memory access was encountered)".
void check_cuda(cudaError_t result, char const* doing);

// Call it after a kernel launch: checks the launch, and clears the thread's sticky error.
void check_launch(char const* doing);

}  // namespace terrazzo::gpu
