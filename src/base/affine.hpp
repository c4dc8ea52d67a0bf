// SPDX-License-Identifier: Apache-2.0
//
// Geotransforms, in GDAL's order: x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5].
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace terrazzo {

// True if the transform is finite and maps different pixels to different points.
[[nodiscard]] inline bool is_invertible(std::array<double, 6> const& t) noexcept {
  if (!std::ranges::all_of(t, [](double value) { return std::isfinite(value); })) { return false; }
  double const most = std::max({std::abs(t[1]), std::abs(t[2]), std::abs(t[4]), std::abs(t[5])});
  if (most == 0) { return false; }
  // Divide first: products of small steps would underflow to 0.
  return (t[1] / most) * (t[5] / most) - (t[2] / most) * (t[4] / most) != 0;
}

}  // namespace terrazzo
