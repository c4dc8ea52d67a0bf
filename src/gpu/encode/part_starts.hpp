// SPDX-License-Identifier: Apache-2.0
//
// For encoders that divide tiles into parts: the start of each part's output in its tile's output. Thread-safe;
// allocates nothing and never waits.
#pragma once

#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Device arrays in scratch memory. A tile of n bytes has n / part_bytes parts, rounded up, in parts_a_tile entries.
struct TileParts {
  std::uint32_t* sizes = nullptr;  // size of each part, in units
  // In units; parts_a_tile + 1 per tile: the last one in use is the end of the tile.
  std::uint64_t* starts = nullptr;
  std::uint64_t parts_a_tile = 0;
  std::uint64_t part_bytes = 1;  // input bytes per part
  std::uint32_t units_a_byte = 1;  // 8 if parts are counted in bits
  std::uint32_t units_in_front = 0;  // units of a tile's output before its first part; `starts` exclude them
};

// Bytes of both arrays, rounded up to 16; the largest number of parts of a tile.
[[nodiscard]] std::size_t tile_parts_bytes(std::uint32_t tile_count, std::uint64_t parts_a_tile) noexcept;

// Places the arrays in memory of tile_parts_bytes(), aligned to 8.
[[nodiscard]] TileParts place_tile_parts(std::byte* memory, std::uint32_t tile_count, std::uint64_t parts_a_tile,
                                         std::uint64_t part_bytes) noexcept;

// Computes `starts` from `sizes`, and the batch's output sizes and statuses: `ok`, or `sparse` for an empty tile.
void find_part_starts(tile::EncodeBatch const& batch, TileParts const& parts, cudaStream_t stream);

}  // namespace terrazzo::gpu
