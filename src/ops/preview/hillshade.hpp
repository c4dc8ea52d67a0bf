// SPDX-License-Identifier: Apache-2.0
//
// Shaded relief of a grid of heights, lit from the north-west at 45 degrees (Horn's slope, as in GDAL and ESRI).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::ops {

// Heights, rows from top to bottom; NaN for missing ones. Steps are the distances between neighbours in the unit of the
// heights, along columns (east when positive) and rows (south when positive).
struct HeightGrid {
  std::span<double const> heights;
  std::uint32_t width = 0, height = 0;
  double column_step = 1, row_step = 1;
};

// Brightness of each pixel, 0 to 1. `exaggeration` multiplies heights. At edges and beside NaN, missing neighbours are
// extrapolated from the plane through the others; a NaN pixel stays NaN.
[[nodiscard]] std::vector<float> hillshade(HeightGrid const& grid, double exaggeration);

// A factor that makes the steepest tenth of the slopes about 30 degrees: the pixels of a preview are so large that true
// slopes look flat. At least 1 if `may_flatten` is false.
[[nodiscard]] double relief_exaggeration(HeightGrid const& grid, bool may_flatten);

}  // namespace terrazzo::ops
