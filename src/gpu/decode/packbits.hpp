// SPDX-License-Identifier: Apache-2.0
//
// PackBits on the device, bounds-checked: for any bytes, nothing is read outside a tile's input or written outside its
// output. Statuses and bytes are those of coding::packbits_decode().
// Thread-safe; allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Throws `device` if the launch fails.
void decode_packbits(tile::DeviceTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
