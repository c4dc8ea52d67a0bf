// SPDX-License-Identifier: Apache-2.0
//
// Points by the block that holds their pixel.
#pragma once

#include "terrazzo/coordinates.hpp"
#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// A point with a pixel.
struct PlacedPoint {
  std::uint32_t column = 0, row = 0;
  std::uint32_t index = 0;  // in the caller's list
};

// The part of a level that matters here, in pixels.
struct BlockGrid {
  std::uint32_t width = 0, height = 0;
  std::uint32_t block_width = 0, block_height = 0;
};

// The points inside the level, sorted by block. `pixels` are positions in the level; others are left out. REQUIRES: at
// most 2^32 - 1 points, block sizes above 0.
[[nodiscard]] std::vector<PlacedPoint> place_points(std::span<Pixel const> pixels, BlockGrid const& grid);

struct PointGroup {
  std::size_t first = 0, count = 0;  // in the list of place_points()
  Window window{};                   // the smallest that holds the pixels
};

// One group for each block that has points, in the order of the blocks.
[[nodiscard]] std::vector<PointGroup> group_by_block(std::span<PlacedPoint const> points, BlockGrid const& grid);

}  // namespace terrazzo::reading
