// SPDX-License-Identifier: Apache-2.0
//
// PackBits on the device, bounds-checked: whatever the bytes are, nothing is read outside a tile's input nor written
// outside its output. Statuses and bytes are those of tile::packbits_decode().
// Any thread may call; nothing is allocated, nothing waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Throws `device` when the launch fails.
void decode_packbits(tile::DeviceTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
