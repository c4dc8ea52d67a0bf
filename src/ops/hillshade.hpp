// SPDX-License-Identifier: Apache-2.0
//
// Shaded relief of a grid of heights, lit from the north-west at 45 degrees (Horn's slope, as GDAL's and ESRI's).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::ops {

// Heights, rows top-down; NaN where there is none. Steps are the distances between neighbours in the unit of the
// heights, along columns (east when positive) and rows (south when positive).
struct HeightGrid {
  std::span<double const> heights;
  std::uint32_t width = 0, height = 0;
  double column_step = 1, row_step = 1;
};

// How bright each pixel is, 0 to 1. `exaggeration` multiplies heights. At edges and beside NaN missing neighbours are
// taken to lie on the plane through the others; a NaN pixel is NaN.
[[nodiscard]] std::vector<float> hillshade(HeightGrid const& grid, double exaggeration);

// A factor that brings the steepest tenth of the slopes to about 30 degrees: a preview's pixels are so large that true
// slopes look flat. Never below 1 when `may_flatten` is false.
[[nodiscard]] double relief_exaggeration(HeightGrid const& grid, bool may_flatten);

}  // namespace terrazzo::ops
