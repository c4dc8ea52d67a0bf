// SPDX-License-Identifier: Apache-2.0
//
// Deflate in zlib frames (coding/deflate/pieces.hpp), made on the device: a tile is divided into pieces that are
// encoded in parallel, so a batch of few large tiles occupies the device as well as one of many small ones. The same
// tile and level give the same bytes for any batch and device. Thread-safe; allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Upper bound for the stream of a tile of so many bytes; outputs may start at any byte.
[[nodiscard]] std::uint64_t deflate_encode_bound(std::uint64_t tile_bytes) noexcept;

// A little more than the input, and 128 KiB for each 32 KiB piece that is encoded at the same time, at most 640 pieces.
[[nodiscard]] std::size_t deflate_encode_scratch_bytes(std::uint32_t tile_count,
                                                       std::uint64_t longest_tile_bytes) noexcept;

// Levels 1 to 3 search the fewest positions for a match, 4 to 6 more, 7 and above most (coding::deflate_lanes()).
void deflate_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

}  // namespace terrazzo::gpu
