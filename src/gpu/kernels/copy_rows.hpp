// SPDX-License-Identifier: Apache-2.0
//
// Rows from one place in device memory to another, whatever the strides of both. Any thread may call; nothing is
// allocated, nothing waits.
#pragma once

#include "gpu/kernels/device_rows.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Pixels, and the mask where `to` has one; both have the same bands, width, height and type. They do not overlap.
void copy_rows(DeviceRows const& from, DeviceRows const& to, cudaStream_t stream);

}  // namespace terrazzo::gpu
