// SPDX-License-Identifier: Apache-2.0
//
// LZW on the device, both bit orders, bounds-checked: for any bytes, nothing is read outside a tile's input or written
// outside its output. A tile is `ok` exactly if coding::lzw_decode() accepts it, with one exception: a stream with more
// Clears than coding::lzw_segment_capacity() allows is `unsupported` and left to the host.
// Thread-safe; allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Scratch of decode_lzw() for a batch of this many tiles and bytes (the sum of input_sizes, or more).
[[nodiscard]] std::size_t lzw_scratch_bytes(std::uint32_t tile_count, std::uint64_t input_bytes_total);

// `scratch` is device memory at a 16-byte address, in use until the stream has passed. `max_input_bytes`, the largest
// of input_sizes, only selects the block size. Throws `usage` if scratch_bytes is too small, `device` if a launch
// fails.
void decode_lzw(tile::DeviceTiles const& tiles, std::uint64_t input_bytes_total, std::uint64_t max_input_bytes,
                std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace terrazzo::gpu
