// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/hillshade.hpp"

#include "base/affine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace terrazzo::ops {
namespace {

constexpr double kAzimuth = 315 * std::numbers::pi / 180;   // direction of the light, clockwise from north
constexpr double kAltitude = 45 * std::numbers::pi / 180;
constexpr double kTangentOf30 = 0.57735026918962576;
constexpr double kMaxExaggeration = 50;

struct Gradient {
  double east = 0, south = 0;  // rise per unit of distance
};

// A neighbourhood of 3 x 3 heights with holes filled.
class Neighbourhood {
 public:
  Neighbourhood(HeightGrid const& grid, std::uint32_t column, std::uint32_t row) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) { at(dx, dy) = height_at(grid, column, row, dx, dy); }
    }
    fill_pair(at(-1, 0), at(1, 0));
    fill_pair(at(0, -1), at(0, 1));
    for (int dy : {-1, 1}) {
      for (int dx : {-1, 1}) {
        if (std::isnan(at(dx, dy))) { at(dx, dy) = at(dx, 0) + at(0, dy) - at(0, 0); }
      }
    }
  }

  [[nodiscard]] Gradient gradient(double column_step, double row_step) const {
    double const east = (at(1, -1) + 2 * at(1, 0) + at(1, 1)) - (at(-1, -1) + 2 * at(-1, 0) + at(-1, 1));
    double const south = (at(-1, 1) + 2 * at(0, 1) + at(1, 1)) - (at(-1, -1) + 2 * at(0, -1) + at(1, -1));
    return {east / (8 * column_step), south / (8 * row_step)};
  }

 private:
  static double height_at(HeightGrid const& grid, std::uint32_t column, std::uint32_t row, int dx, int dy) {
    std::int64_t const x = std::int64_t{column} + dx;
    std::int64_t const y = std::int64_t{row} + dy;
    if (x < 0 || y < 0 || x >= grid.width || y >= grid.height) { return std::numeric_limits<double>::quiet_NaN(); }
    double const h = grid.heights[static_cast<std::size_t>(y) * grid.width + static_cast<std::size_t>(x)];
    return std::isfinite(h) ? h : std::numeric_limits<double>::quiet_NaN();
  }
  // Two opposite neighbours: a missing one is extrapolated linearly from the other and the centre.
  void fill_pair(double& a, double& b) {
    double const centre = at(0, 0);
    if (std::isnan(a)) { a = std::isnan(b) ? centre : 2 * centre - b; }
    if (std::isnan(b)) { b = 2 * centre - a; }
  }
  double& at(int dx, int dy) { return cells_[(dy + 1) * 3 + dx + 1]; }
  [[nodiscard]] double at(int dx, int dy) const { return cells_[(dy + 1) * 3 + dx + 1]; }

  double cells_[9];
};

}  // namespace

std::vector<float> hillshade(HeightGrid const& grid, double exaggeration) {
  // The vector towards the light: east, north, up.
  double const light_east = std::sin(kAzimuth) * std::cos(kAltitude);
  double const light_north = std::cos(kAzimuth) * std::cos(kAltitude);
  double const light_up = std::sin(kAltitude);
  std::vector<float> shade(grid.heights.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::uint32_t row = 0; row < grid.height; ++row) {
    for (std::uint32_t column = 0; column < grid.width; ++column) {
      std::size_t const i = std::size_t{row} * grid.width + column;
      if (!std::isfinite(grid.heights[i])) { continue; }
      Gradient const slope = Neighbourhood(grid, column, row).gradient(grid.column_step, grid.row_step);
      double const east = slope.east * exaggeration, north = -slope.south * exaggeration;
      // Cosine between the light and the surface normal (-east, -north, 1).
      double const cosine =
          (light_up - east * light_east - north * light_north) / std::sqrt(1 + east * east + north * north);
      shade[i] = static_cast<float>(std::clamp(cosine, 0.0, 1.0));
    }
  }
  return shade;
}

double relief_exaggeration(HeightGrid const& grid, bool may_flatten) {
  std::vector<double> slopes;
  slopes.reserve(grid.heights.size());
  for (std::uint32_t row = 0; row < grid.height; ++row) {
    for (std::uint32_t column = 0; column < grid.width; ++column) {
      if (!std::isfinite(grid.heights[std::size_t{row} * grid.width + column])) { continue; }
      Gradient const slope = Neighbourhood(grid, column, row).gradient(grid.column_step, grid.row_step);
      double const steepness = length_of(slope.east, slope.south);
      if (steepness > 0 && std::isfinite(steepness)) { slopes.push_back(steepness); }
    }
  }
  if (slopes.empty()) { return 1; }
  auto const steep = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() * 9 / 10);
  std::nth_element(slopes.begin(), steep, slopes.end());
  double const wanted = kTangentOf30 / *steep;
  return may_flatten ? wanted : std::clamp(wanted, 1.0, kMaxExaggeration);
}

}  // namespace terrazzo::ops
