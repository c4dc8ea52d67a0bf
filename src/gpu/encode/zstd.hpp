// SPDX-License-Identifier: Apache-2.0
//
// ZSTD frames (coding/zstd/pieces.hpp) made on the device: a tile is divided into pieces that are encoded in parallel,
// so a batch of few large tiles occupies the device as well as one of many small ones. The same tile and level give the
// same bytes for any batch and device. Thread-safe; allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Upper bound for the frame of a tile of so many bytes; outputs may start at any byte.
[[nodiscard]] std::uint64_t zstd_encode_bound(std::uint64_t tile_bytes) noexcept;

// A little more than the input, and 225 KiB for each 32 KiB piece that is encoded at the same time, at most 640 pieces.
[[nodiscard]] std::size_t zstd_encode_scratch_bytes(std::uint32_t tile_count,
                                                    std::uint64_t longest_tile_bytes) noexcept;

// Levels 1 to 3 search the fewest positions for a match, 4 to 9 more, 10 to 22 most (coding::zstd_lanes()).
void zstd_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream);

}  // namespace terrazzo::gpu
