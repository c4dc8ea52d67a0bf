// SPDX-License-Identifier: Apache-2.0
//
// LZW and its streams as tile/lzw_encode.hpp, made on the device: a tile is cut into parts that begin with a Clear and
// are encoded by themselves, side by side, so streams are a little longer than the host's (tile/lzw_parts.hpp says by
// how much). The same tile gives the same bytes whatever the batch. Any thread may call; nothing is allocated, nothing
// waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// The longest stream that a tile of so many bytes can become, in whole words: up to 3 bytes behind a stream are
// written.
[[nodiscard]] std::uint64_t lzw_device_encode_bound(std::uint64_t tile_bytes) noexcept;

// Grows with both; 2 bytes for each of the input.
[[nodiscard]] std::size_t lzw_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept;

// Statuses: `ok`, or `sparse` for a tile of no bytes. Throws `usage` for too little scratch, `device` when a launch
// fails.
void lzw_encode_tiles(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream);

}  // namespace terrazzo::gpu
