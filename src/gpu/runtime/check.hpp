// SPDX-License-Identifier: Apache-2.0
//
// Every CUDA call of ours goes through here: a failure is a `device` Error that says what was being done.
#pragma once

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Throws `device` when the device is lost (lost_device.hpp), whatever the result; else for every result but success:
// "uploading a batch: cudaErrorIllegalAddress (an illegal memory access was encountered)".
void check_cuda(cudaError_t result, char const* doing);

// After a kernel launch: what the launch itself had to say. Takes the sticky error out of the thread.
void check_launch(char const* doing);

}  // namespace terrazzo::gpu
