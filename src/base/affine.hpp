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

// A step in the CRS as a step in pixels: columns and rows. REQUIRES: an invertible transform.
[[nodiscard]] inline std::array<double, 2> pixel_step(std::array<double, 6> const& t, double x, double y) noexcept {
  if (t[2] == 0 && t[4] == 0) { return {x / t[1], y / t[5]}; }
  // Divide first: products of small steps would underflow to 0.
  double const most = std::max({std::abs(t[1]), std::abs(t[2]), std::abs(t[4]), std::abs(t[5])});
  double const a = t[1] / most, b = t[2] / most, c = t[4] / most, d = t[5] / most;
  double const determinant = a * d - b * c;
  return {(d * x - b * y) / determinant / most, (a * y - c * x) / determinant / most};
}

// The transform of a grid that begins at pixel (column, row) of this one and has pixels of the given scale.
[[nodiscard]] inline std::array<double, 6> moved(std::array<double, 6> const& t, double column, double row,
                                                 double x_scale, double y_scale) noexcept {
  return {t[0] + column * t[1] + row * t[2], t[1] * x_scale, t[2] * y_scale,
          t[3] + column * t[4] + row * t[5], t[4] * x_scale, t[5] * y_scale};
}

// A position within 1e-6 pixels of a whole number is taken as that number: coordinates of decimal numbers are seldom
// exact.
[[nodiscard]] inline double snapped(double position) noexcept {
  constexpr double kSnapPixels = 1e-6;
  double const whole = std::round(position);
  return std::abs(position - whole) < kSnapPixels ? whole : position;
}

}  // namespace terrazzo
