// SPDX-License-Identifier: Apache-2.0
//
// For encoders that cut tiles into parts: where each part's output begins in its tile's. Any thread may call; nothing
// is allocated, nothing waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Device arrays in scratch memory. A tile of n bytes has n / part_bytes parts, rounded up, in parts_a_tile places.
struct TileParts {
  std::uint32_t* sizes = nullptr;  // of each part, in units
  // In units; parts_a_tile + 1 a tile: the last of those in use is where the tile ends.
  std::uint64_t* starts = nullptr;
  std::uint64_t parts_a_tile = 0;
  std::uint64_t part_bytes = 1;  // of the input
  std::uint32_t units_a_byte = 1;  // 8 when parts are counted in bits
  std::uint32_t units_in_front = 0;  // of a tile's output, before its first part; `starts` do not count them
};

// Bytes that both arrays take, rounded up to 16; the most parts that a tile has.
[[nodiscard]] std::size_t tile_parts_bytes(std::uint32_t tile_count, std::uint64_t parts_a_tile) noexcept;

// Puts the arrays into memory of tile_parts_bytes(), aligned to 8.
[[nodiscard]] TileParts place_tile_parts(std::byte* memory, std::uint32_t tile_count, std::uint64_t parts_a_tile,
                                         std::uint64_t part_bytes) noexcept;

// Fills `starts` from `sizes`, and the batch's output sizes and statuses: `ok`, or `sparse` for a tile of no bytes.
void find_part_starts(tile::EncodeBatch const& batch, TileParts const& parts, cudaStream_t stream);

}  // namespace terrazzo::gpu
