// SPDX-License-Identifier: Apache-2.0
//
// ZSTD on the device, bounds-checked: for any bytes, nothing is read outside a tile's input or written outside its
// output. A tile is `ok` if its frame is valid and has exactly the size of the output; the host decodes all others,
// which are `unsupported`, and frames with a checksum (coding/zstd/decode.hpp). Thread-safe; allocates nothing and
// never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Scratch of decode_zstd() for a batch of this many tiles: 128 KiB for each tile that is decoded at the same time.
// Throws `device` if the device does not answer.
[[nodiscard]] std::size_t zstd_decode_scratch_bytes(std::uint32_t tile_count);

// `scratch` is device memory, in use until the stream has passed. Throws `usage` if scratch_bytes is too small,
// `device` if the launch fails.
void decode_zstd(tile::DeviceTiles const& tiles, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
