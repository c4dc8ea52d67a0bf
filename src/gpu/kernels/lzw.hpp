// SPDX-License-Identifier: Apache-2.0
//
// LZW on the device, both bit orders, bounds-checked: whatever the bytes are, nothing is read outside a tile's input
// nor written outside its output. A tile is `ok` when and only when tile::lzw_decode() says so, with one exception: a
// stream with more Clears than tile::lzw_segment_capacity() allows is `unsupported` and left to the host.
// Any thread may call; nothing is allocated, nothing waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// What decode_lzw() needs for a batch of so many tiles and bytes (the sum of input_sizes, or more).
[[nodiscard]] std::size_t lzw_scratch_bytes(std::uint32_t tile_count, std::uint64_t input_bytes_total);

// `scratch` is device memory on a 16-byte address, in use until the stream has passed. `max_input_bytes`, the largest
// of input_sizes, only serves to choose a block size. Throws `usage` when scratch_bytes is too small, `device` when a
// launch fails.
void decode_lzw(tile::DeviceTiles const& tiles, std::uint64_t input_bytes_total, std::uint64_t max_input_bytes,
                std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
