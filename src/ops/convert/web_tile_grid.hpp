// SPDX-License-Identifier: Apache-2.0
//
// The grid of the tiling scheme GoogleMapsCompatible for a raster, by the rules of GDAL's COG driver: arithmetic only.
#pragma once

#include "terrazzo/convert.hpp"
#include "terrazzo/coordinates.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace terrazzo::ops {

// The pixels of whole tiles around an area.
struct WebTileGrid {
  std::uint32_t zoom_level = 0;
  std::uint32_t aligned_levels = 0;
  double xmin = 0, ymax = 0;  // of the upper left corner
  double resolution = 0;
  std::uint32_t width = 0, height = 0;

  [[nodiscard]] std::array<double, 6> transform() const noexcept { return {xmin, resolution, 0, ymax, 0, -resolution}; }
};

// `pixel_width` is that of the raster's pixels, which chooses the zoom level. Throws `usage` for an area outside the
// scheme's square, a zoom level or a number of levels that the scheme does not have, and a grid of more than 2^31 - 1
// pixels in a row or column.
[[nodiscard]] WebTileGrid web_tile_grid(BoundingBox const& area, double pixel_width, WebTileOptions const& options);

// The factors of overviews down to one tile.
[[nodiscard]] std::vector<std::uint32_t> web_tile_overviews(WebTileGrid const& grid, std::uint32_t tile_size);

}  // namespace terrazzo::ops
