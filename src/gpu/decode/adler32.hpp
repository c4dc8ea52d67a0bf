// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP decodes deflate without checking zlib's checksum. This kernel checks it, as the host does.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

namespace terrazzo::gpu {

// Tiles with status `ok` are zlib streams with their whole content. If the last four bytes of the input are not the
// content's Adler-32, the tile becomes `unsupported`, and the host decides.
void check_adler32(tile::DeviceTiles const& tiles, cudaStream_t stream);

}  // namespace terrazzo::gpu
