// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/web_tile_grid.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace terrazzo::ops {
namespace {

constexpr double kHalfSide = 6378137 * std::numbers::pi;  // of the scheme's square, in metres
constexpr std::uint32_t kFinestLevel = 30;
constexpr std::uint32_t kMostAlignedLevels = 10;
constexpr std::uint32_t kSchemeTile = 256;
constexpr double kSameResolution = 1e-8;  // relative

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// A larger tile has the area of one of the scheme's tiles in more pixels.
double resolution_at(std::uint32_t level, std::uint32_t tile_size) {
  double const of_scheme = 2 * kHalfSide / kSchemeTile / static_cast<double>(std::uint64_t{1} << level);
  return of_scheme * kSchemeTile / tile_size;
}

// The level whose resolution is nearest, as a ratio.
std::uint32_t nearest_level(double resolution, std::uint32_t tile_size) {
  auto const is_same = [&](std::uint32_t level) {
    double const other = resolution_at(level, tile_size);
    return std::abs(resolution - other) / other <= kSameResolution;
  };
  std::uint32_t level = 0;
  while (level <= kFinestLevel && !(resolution > resolution_at(level, tile_size)) && !is_same(level)) { ++level; }
  if (level > kFinestLevel) {
    refuse(text("pixels of ", resolution, " m are finer than those of zoom level ", kFinestLevel));
  }
  if (level == 0 || is_same(level)) { return level; }
  double const coarser = resolution_at(level - 1, tile_size), finer = resolution_at(level, tile_size);
  return coarser / resolution < resolution / finer ? level - 1 : level;
}

struct TileRange {
  std::uint64_t first = 0, end = 0;
};

// The tiles between two distances from the scheme's corner, in groups of `group` tiles. An area that reaches less than
// half a pixel into a tile does not need the tile.
TileRange tiles_between(double low, double high, double tile_side, double resolution, std::uint64_t group,
                        std::uint64_t count) {
  constexpr double kPartOfPixel = 0.499;
  double const margin = kPartOfPixel * resolution, last = static_cast<double>(count);
  double const first = std::clamp(std::floor((low + margin) / tile_side), 0.0, last);
  double const end = std::clamp(std::ceil((high - margin) / tile_side), 0.0, last);
  auto const first_tile = static_cast<std::uint64_t>(first), end_tile = static_cast<std::uint64_t>(end);
  return {first_tile / group * group, std::min(ceil_div(end_tile, group) * group, count)};
}

std::uint32_t pixels_of(TileRange const& tiles, std::uint32_t tile_size) {
  constexpr std::uint64_t kMost = 0x7FFFFFFF;
  auto const pixels = checked_product(tiles.end - tiles.first, tile_size);
  if (!pixels || *pixels > kMost) { refuse("the tiles have more than 2147483647 columns or rows"); }
  return static_cast<std::uint32_t>(*pixels);
}

}  // namespace

WebTileGrid web_tile_grid(BoundingBox const& area, double pixel_width, WebTileOptions const& options) {
  std::uint32_t const tile_size = options.tile_size;
  if (tile_size == 0 || tile_size % 16 != 0) { refuse(text("tiles of ", tile_size, " pixels: not a multiple of 16")); }
  if (options.zoom_level && *options.zoom_level > kFinestLevel) {
    refuse(text("zoom level ", *options.zoom_level, ": the levels are 0 to ", kFinestLevel));
  }
  if (options.aligned_levels > kMostAlignedLevels) {
    refuse(text(options.aligned_levels, " aligned levels: at most ", kMostAlignedLevels));
  }
  bool const is_inside =
      area.xmin <= kHalfSide && area.xmax >= -kHalfSide && area.ymin <= kHalfSide && area.ymax >= -kHalfSide;
  if (!is_inside) { refuse("the raster lies outside the square of the tiling scheme"); }

  WebTileGrid grid;
  grid.zoom_level = options.zoom_level ? *options.zoom_level : nearest_level(pixel_width, tile_size);
  grid.aligned_levels = std::min(options.aligned_levels, grid.zoom_level);
  grid.resolution = resolution_at(grid.zoom_level, tile_size);
  double const side = grid.resolution * tile_size;
  std::uint64_t const count = std::uint64_t{1} << grid.zoom_level;
  std::uint64_t const group = std::uint64_t{1} << (std::max(grid.aligned_levels, 1U) - 1);
  TileRange const columns =
      tiles_between(area.xmin + kHalfSide, area.xmax + kHalfSide, side, grid.resolution, group, count);
  TileRange const rows =
      tiles_between(kHalfSide - area.ymax, kHalfSide - area.ymin, side, grid.resolution, group, count);
  if (columns.first >= columns.end || rows.first >= rows.end) {
    refuse(text("the raster is too small for a pixel of zoom level ", grid.zoom_level));
  }
  grid.xmin = -kHalfSide + static_cast<double>(columns.first) * side;
  grid.ymax = kHalfSide - static_cast<double>(rows.first) * side;
  grid.width = pixels_of(columns, tile_size);
  grid.height = pixels_of(rows, tile_size);
  return grid;
}

std::vector<std::uint32_t> web_tile_overviews(WebTileGrid const& grid, std::uint32_t tile_size) {
  std::vector<std::uint32_t> factors;
  std::uint32_t const longer = std::max(grid.width, grid.height);
  for (std::uint32_t factor = 1; ceil_div(longer, factor) > tile_size;) {
    factor *= 2;
    factors.push_back(factor);
  }
  return factors;
}

}  // namespace terrazzo::ops
