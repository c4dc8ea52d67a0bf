// SPDX-License-Identifier: Apache-2.0
//
// Copies rows within device memory, with any strides on both sides. Thread-safe; allocates nothing and never waits.
#pragma once

#include "gpu/transfer/device_rows.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Copies pixels, and the mask if `to` has one; both have the same bands, width, height and type and do not overlap.
void copy_rows(ConstDeviceRows const& from, DeviceRows const& to, cudaStream_t stream);

}  // namespace terrazzo::gpu
