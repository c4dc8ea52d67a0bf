// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/hillshade.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::ops {
namespace {

constexpr std::uint32_t kSide = 5;

// Heights that rise by `east` and `south` per pixel.
std::vector<double> plane(double east, double south) {
  std::vector<double> heights;
  for (std::uint32_t y = 0; y < kSide; ++y) {
    for (std::uint32_t x = 0; x < kSide; ++x) { heights.push_back(100 + east * x + south * y); }
  }
  return heights;
}

HeightGrid grid_of(std::vector<double> const& heights, double column_step = 1, double row_step = 1) {
  return {heights, kSide, kSide, column_step, row_step};
}

TEST(Hillshade, LevelGroundHasTheSineOfTheSunsHeight) {
  auto const heights = plane(0, 0);
  for (float s : hillshade(grid_of(heights), 1)) { EXPECT_NEAR(s, std::sqrt(0.5), 1e-6); }
}

TEST(Hillshade, PlaneFacingTheLightIsFullyLit) {
  // Falls at 45 degrees towards the north-west, where the light is: the normal points at it.
  double const rise = std::sqrt(0.5);
  auto const heights = plane(rise, rise);
  for (float s : hillshade(grid_of(heights), 1)) { EXPECT_NEAR(s, 1.0, 1e-6); }
}

TEST(Hillshade, PlaneFacingAwayIsDark) {
  double const rise = std::sqrt(0.5);
  auto const heights = plane(-rise, -rise);
  for (float s : hillshade(grid_of(heights), 1)) { EXPECT_NEAR(s, 0.0, 1e-6); }
}

TEST(Hillshade, SlopeToTheWestHasItsKnownValue) {
  // Rises 1 in 1 to the east: normal (-1, 0, 1) / sqrt(2), light (-1/2, 1/2, sqrt(1/2)).
  auto const heights = plane(1, 0);
  double const expected = (0.5 + std::sqrt(0.5)) / std::sqrt(2);
  for (float s : hillshade(grid_of(heights), 1)) { EXPECT_NEAR(s, expected, 1e-6); }
}

TEST(Hillshade, StepsAndExaggerationScaleTheSlope) {
  auto const heights = plane(30, 0);
  auto const expected = hillshade(grid_of(plane(1, 0)), 1);
  EXPECT_NEAR(hillshade(grid_of(heights, 30, 30), 1)[12], expected[12], 1e-6);
  EXPECT_NEAR(hillshade(grid_of(heights, 60, 60), 2)[12], expected[12], 1e-6);
}

TEST(Hillshade, SouthUpGridIsLitFromTheSameSide) {
  // The same plane stored bottom row first.
  auto const heights = plane(std::sqrt(0.5), -std::sqrt(0.5));
  EXPECT_NEAR(hillshade(grid_of(heights, 1, -1), 1)[12], 1.0, 1e-6);
}

TEST(Hillshade, HolesStayHolesAndDoNotSpread) {
  auto heights = plane(1, 0);
  double const expected = hillshade(grid_of(heights), 1)[12];
  heights[6] = std::numeric_limits<double>::quiet_NaN();
  auto const shade = hillshade(grid_of(heights), 1);
  EXPECT_TRUE(std::isnan(shade[6]));
  // Beside the edge, pixel 5 has neither neighbour along its row: nothing local tells its slope.
  for (std::size_t i = 0; i < shade.size(); ++i) {
    if (i != 6 && i != 5) { EXPECT_NEAR(shade[i], expected, 1e-6) << i; }
  }
}

TEST(Hillshade, LonelyPixelIsLevelGround) {
  std::vector<double> const height{42};
  EXPECT_NEAR(hillshade({height, 1, 1, 1, 1}, 1)[0], std::sqrt(0.5), 1e-6);
}

TEST(ReliefExaggeration, BringsSlopesToThirtyDegrees) {
  auto const gentle = plane(0.02, 0);
  EXPECT_NEAR(relief_exaggeration(grid_of(gentle), false) * 0.02, std::tan(std::acos(-1) / 6), 1e-9);
  auto const steep = plane(3, 0);
  EXPECT_EQ(relief_exaggeration(grid_of(steep), false), 1.0);
  EXPECT_NEAR(relief_exaggeration(grid_of(steep), true) * 3, std::tan(std::acos(-1) / 6), 1e-9);
}

TEST(ReliefExaggeration, LeavesLevelGroundAlone) { EXPECT_EQ(relief_exaggeration(grid_of(plane(0, 0)), true), 1.0); }

}  // namespace
}  // namespace terrazzo::ops
