// SPDX-License-Identifier: Apache-2.0
//
// Deflate (zlib streams) on the device, bounds-checked: for any bytes, nothing is read outside a tile's input or
// written outside its output. A tile is `ok` if its stream is valid, has exactly the size of the output, and has the
// right checksum; the host decodes all others, which are `unsupported` (coding/deflate/inflate.hpp). Thread-safe;
// allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Throws `device` if the launch fails.
void decode_deflate(tile::DeviceTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
