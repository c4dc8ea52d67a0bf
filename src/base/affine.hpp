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

// The length of a vector. Squares of doubles neither overflow nor vanish in the wider type, so the result is that of
// std::hypot() but for its last bit. glibc 2.35 gave hypot a new symbol, which older systems lack.
[[nodiscard]] inline double length_of(double x, double y) noexcept {
  long double const wide_x = x, wide_y = y;
  return static_cast<double>(std::sqrt(wide_x * wide_x + wide_y * wide_y));
}

// Lengths of the sides of a pixel: along a row, and along a column.
struct PixelSides {
  double along_row = 0, along_column = 0;
};
[[nodiscard]] inline PixelSides pixel_sides(std::array<double, 6> const& t) noexcept {
  return {length_of(t[1], t[4]), length_of(t[2], t[5])};
}

}  // namespace terrazzo
