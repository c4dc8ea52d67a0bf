// SPDX-License-Identifier: Apache-2.0
//
// LZW streams like those of coding/lzw/encode.hpp, made on the device: a tile is divided into parts that begin with a
// Clear and are encoded independently, in parallel, so streams are slightly longer than the host's
// (coding/lzw/parts.hpp gives the ratio). The same tile gives the same bytes for any batch. Thread-safe; allocates
// nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Upper bound for the stream of a tile of so many bytes, in whole words: up to 3 bytes after a stream are written.
[[nodiscard]] std::uint64_t lzw_device_encode_bound(std::uint64_t tile_bytes) noexcept;

// Increases with both arguments; 2 bytes for each input byte.
[[nodiscard]] std::size_t lzw_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept;

// Statuses: `ok`, or `sparse` for an empty tile. Throws `usage` for too little scratch, `device` if a launch fails.
void lzw_encode_tiles(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream);

}  // namespace terrazzo::gpu
