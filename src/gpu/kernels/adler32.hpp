// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP decodes deflate and does not look at zlib's checksum behind it. We do, as the host does.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Tiles that are `ok` hold zlib streams and their whole content: where the last four bytes of the input are not the
// content's Adler-32, the tile becomes `unsupported`, and the host has the last word.
void check_adler32(tile::DeviceTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
