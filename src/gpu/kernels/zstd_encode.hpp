// SPDX-License-Identifier: Apache-2.0
//
// ZSTD frames (tile/zstd_pieces.hpp) made on the device: a tile is cut into pieces that are encoded side by side, so a
// batch of few large tiles keeps the device as busy as one of many small ones. The same tile and level give the same
// bytes whatever the batch and the device. Any thread may call; nothing is allocated, nothing waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// The longest frame that a tile of so many bytes can become; outputs may lie at any byte.
[[nodiscard]] std::uint64_t zstd_encode_bound(std::uint64_t tile_bytes) noexcept;

// A little more than the input, and 225 KiB for each piece of 32 KiB that is encoded at the same time, of at most 640.
[[nodiscard]] std::size_t zstd_encode_scratch_bytes(std::uint32_t tile_count,
                                                    std::uint64_t longest_tile_bytes) noexcept;

// Levels 1 to 3 look at the fewest places for a match, 4 to 9 at more, 10 to 22 at most (tile::zstd_lanes()).
void zstd_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream);

}  // namespace terrazzo::gpu
