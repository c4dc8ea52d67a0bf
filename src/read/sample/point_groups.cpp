// SPDX-License-Identifier: Apache-2.0
#include "read/sample/point_groups.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace terrazzo::reading {
namespace {

// Row and column of the block.
std::pair<std::uint32_t, std::uint32_t> block_of(PlacedPoint const& point, BlockGrid const& grid) noexcept {
  return {point.row / grid.block_height, point.column / grid.block_width};
}

bool is_inside(double position, std::uint32_t size) noexcept { return position >= 0 && position < size; }  // not NaN

}  // namespace

std::vector<PlacedPoint> place_points(std::span<Pixel const> pixels, BlockGrid const& grid) {
  std::vector<PlacedPoint> placed;
  placed.reserve(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (!is_inside(pixels[i].column, grid.width) || !is_inside(pixels[i].row, grid.height)) { continue; }
    placed.push_back({static_cast<std::uint32_t>(pixels[i].column), static_cast<std::uint32_t>(pixels[i].row),
                      static_cast<std::uint32_t>(i)});
  }
  std::ranges::sort(placed, {},
                    [&](PlacedPoint const& point) { return std::pair(block_of(point, grid), point.index); });
  return placed;
}

std::vector<PointGroup> group_by_block(std::span<PlacedPoint const> points, BlockGrid const& grid) {
  std::vector<PointGroup> groups;
  for (std::size_t first = 0; first < points.size();) {
    auto const block = block_of(points[first], grid);
    std::uint32_t column = points[first].column, row = points[first].row;
    std::uint32_t last_column = column, last_row = row;
    std::size_t end = first;
    for (; end < points.size() && block_of(points[end], grid) == block; ++end) {
      column = std::min(column, points[end].column);
      row = std::min(row, points[end].row);
      last_column = std::max(last_column, points[end].column);
      last_row = std::max(last_row, points[end].row);
    }
    groups.push_back({first, end - first, {column, row, last_column - column + 1, last_row - row + 1}});
    first = end;
  }
  return groups;
}

}  // namespace terrazzo::reading
