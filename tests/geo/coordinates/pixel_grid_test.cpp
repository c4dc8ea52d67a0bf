// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/boundless.hpp"
#include "terrazzo/coordinates.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace terrazzo {
namespace {

using testing::failure_of;
using testing::kind_of_failure;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Info raster(std::array<double, 6> const& transform, std::uint32_t width = 100, std::uint32_t height = 50) {
  Info info;
  info.source = "a.tif";
  info.width = width;
  info.height = height;
  info.georeference.transform = transform;
  return info;
}

Info north_up() { return raster({500'000, 10, 0, 4'000'000, 0, -10}); }
Info south_up() { return raster({500'000, 10, 0, 4'000'000, 0, 10}); }
// By 30 degrees, with pixels of 2 x 3.
Info rotated() {
  double const c = std::cos(M_PI / 6), s = std::sin(M_PI / 6);
  return raster({1000, 2 * c, 3 * s, 2000, 2 * s, -3 * c});
}

TEST(PixelSize, IsTheLengthOfTheSidesAlsoOfARotatedPixel) {
  EXPECT_EQ(pixel_size(north_up()).x, 10);
  EXPECT_EQ(pixel_size(south_up()).y, 10);
  EXPECT_DOUBLE_EQ(pixel_size(rotated()).x, 2);
  EXPECT_DOUBLE_EQ(pixel_size(rotated()).y, 3);
  EXPECT_EQ(kind_of_failure([] { static_cast<void>(pixel_size(Info{})); }), ErrorKind::usage);
}

TEST(Bounds, AreThoseOfTheOuterPixelEdges) {
  EXPECT_EQ(bounds(north_up()), (BoundingBox{500'000, 3'999'500, 501'000, 4'000'000}));
  EXPECT_EQ(bounds(south_up()), (BoundingBox{500'000, 4'000'000, 501'000, 4'000'500}));
}

TEST(Bounds, OfARotatedRasterContainItsCorners) {
  Info const info = rotated();
  BoundingBox const box = bounds(info);
  Corners const c = corners(info);
  for (Point const& corner : {c.upper_left, c.lower_left, c.upper_right, c.lower_right}) {
    EXPECT_TRUE(contains(box, corner));
  }
  EXPECT_EQ(box.xmin, c.upper_left.x);
  EXPECT_EQ(box.xmax, c.lower_right.x);
  EXPECT_EQ(box.ymax, c.upper_right.y);
  EXPECT_EQ(box.ymin, c.lower_left.y);
}

TEST(Corners, FollowThePixels) {
  EXPECT_EQ(corners(north_up()).upper_left, (Point{500'000, 4'000'000}));
  EXPECT_EQ(corners(north_up()).lower_right, (Point{501'000, 3'999'500}));
  EXPECT_EQ(corners(south_up()).lower_right, (Point{501'000, 4'000'500}));
  EXPECT_EQ(center(north_up()), (Point{500'500, 3'999'750}));
}

TEST(ToWorld, IsTheInverseOfToPixel) {
  for (Info const& info : {north_up(), south_up(), rotated(), raster({0, 0, 5, 0, 7, 0})}) {
    for (Pixel const& pixel : {Pixel{0, 0}, Pixel{0.5, 0.5}, Pixel{12.25, 33.75}, Pixel{-7, 1000}}) {
      Pixel const back = to_pixel(info, to_world(info, pixel));
      EXPECT_NEAR(back.column, pixel.column, 1e-9);
      EXPECT_NEAR(back.row, pixel.row, 1e-9);
    }
  }
}

TEST(ToWorld, TakesManyPoints) {
  std::vector<Pixel> const pixels = {{0, 0}, {1, 2}, {100, 50}};
  auto const points = to_world(north_up(), pixels);
  EXPECT_EQ(points, (std::vector<Point>{{500'000, 4'000'000}, {500'010, 3'999'980}, {501'000, 3'999'500}}));
  EXPECT_EQ(to_pixel(north_up(), points), pixels);
  EXPECT_TRUE(to_world(north_up(), std::vector<Pixel>{}).empty());
}

TEST(ToPixel, InvertsTinyStepsWithoutUnderflow) {
  Info const info = raster({0, 1e-200, 1e-201, 0, 1e-201, -1e-200});
  Pixel const back = to_pixel(info, to_world(info, Pixel{3, 4}));
  EXPECT_NEAR(back.column, 3, 1e-9);
  EXPECT_NEAR(back.row, 4, 1e-9);
}

TEST(ToPixel, OfNumbersThatAreNotFiniteIsNotFinite) {
  EXPECT_FALSE(std::isfinite(to_pixel(north_up(), Point{std::nan(""), 0}).column));
  EXPECT_FALSE(std::isfinite(to_pixel(north_up(), Point{kInfinity, 0}).column));
}

TEST(RasterWithoutTransform, IsAUsageErrorThatSaysSo) {
  Info info = north_up();
  info.georeference.transform.reset();
  EXPECT_EQ(kind_of_failure([&] { return bounds(info); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { return to_pixel(info, Point{}); }), ErrorKind::usage);
  EXPECT_NE(failure_of([&] { return corners(info); }).message().find("no transform"), std::string::npos);
  EXPECT_EQ(failure_of([&] { return corners(info); }).where().source, "a.tif");
  info.georeference.gcps.resize(4);
  EXPECT_NE(failure_of([&] { return center(info); }).message().find("4 ground control points"), std::string::npos);
}

TEST(RasterWithoutTransform, IncludesTransformsThatCannotBeInverted) {
  for (auto const& t : {std::array<double, 6>{0, 0, 0, 0, 0, 0}, std::array<double, 6>{0, 1, 2, 0, 2, 4},
                        std::array<double, 6>{0, std::nan(""), 0, 0, 0, 1}}) {
    EXPECT_EQ(kind_of_failure([&] { return bounds(raster(t)); }), ErrorKind::usage);
  }
}

TEST(WindowOf, CoversEveryPixelThatTheBoxTouches) {
  EXPECT_EQ(window_of(north_up(), {500'000, 3'999'500, 501'000, 4'000'000}), (Window{0, 0, 100, 50}));
  EXPECT_EQ(window_of(north_up(), {500'012, 3'999'958, 500'031, 3'999'989}), (Window{1, 1, 3, 4}));
  EXPECT_EQ(window_of(south_up(), {500'012, 4'000'011, 500'031, 4'000'042}), (Window{1, 1, 3, 4}));
}

TEST(WindowOf, TakesEdgesNearAPixelEdgeAsThatEdge) {
  double const near = 0.5e-6 * 10, far = 3e-6 * 10;
  EXPECT_EQ(window_of(north_up(), {500'010 - near, 3'999'980 - near, 500'020 + near, 3'999'990 + near}),
            (Window{1, 1, 1, 1}));
  EXPECT_EQ(window_of(north_up(), {500'010 - far, 3'999'980 - far, 500'020 + far, 3'999'990 + far}),
            (Window{0, 0, 3, 3}));
}

TEST(WindowOf, ABoxInsideAPixelIsThatPixel) {
  EXPECT_EQ(window_of(north_up(), {500'014, 3'999'984, 500'015, 3'999'985}), (Window{1, 1, 1, 1}));
  // Thinner than the tolerance, on an edge.
  EXPECT_EQ(window_of(north_up(), {500'010 - 1e-7, 3'999'985, 500'010 + 1e-7, 3'999'986}), (Window{1, 1, 1, 1}));
}

TEST(WindowOf, ClipsToTheRaster) {
  BoundingBox const wide{499'000, 3'999'985, 500'015, 5'000'000};
  EXPECT_EQ(window_of(north_up(), wide), (Window{0, 0, 2, 2}));
  EXPECT_FALSE(covers(north_up(), wide));
  EXPECT_TRUE(covers(north_up(), bounds(north_up())));
  EXPECT_TRUE(covers(north_up(), expanded(bounds(north_up()), 1e-6)));
  EXPECT_EQ(window_of(north_up(), {-1e300, -1e300, 1e300, 1e300}), (Window{0, 0, 100, 50}));
}

TEST(WindowOf, RefusesABoxOutsideWithBothBoxes) {
  for (BoundingBox const& box :
       {BoundingBox{0, 0, 1, 1}, BoundingBox{501'000, 3'999'500, 502'000, 4'000'000},
        BoundingBox{500'000, 4'000'000, 501'000, 4'000'001}, BoundingBox{1e300, 1e300, 1.5e300, 1.5e300}}) {
    EXPECT_EQ(kind_of_failure([&] { return window_of(north_up(), box); }), ErrorKind::usage);
  }
  std::string const told = failure_of([] { return window_of(north_up(), {1, 2, 3, 4}); }).message();
  EXPECT_NE(told.find("1, 2, 3, 4"), std::string::npos) << told;
  EXPECT_NE(told.find("500000, 3999500, 501000, 4000000"), std::string::npos) << told;
}

TEST(WindowOf, RefusesBoxesThatAreEmptyOrNotFinite) {
  for (BoundingBox const& box :
       {BoundingBox{500'000, 3'999'500, 500'000, 4'000'000}, BoundingBox{500'100, 3'999'500, 500'000, 4'000'000},
        BoundingBox{500'000, 4'000'000, 501'000, 3'999'500}, BoundingBox{std::nan(""), 0, 1, 1},
        BoundingBox{-kInfinity, -kInfinity, kInfinity, kInfinity}}) {
    EXPECT_EQ(kind_of_failure([&] { return window_of(north_up(), box); }), ErrorKind::usage);
    EXPECT_EQ(kind_of_failure([&] { return covers(north_up(), box); }), ErrorKind::usage);
  }
}

TEST(WindowOf, OfARotatedRasterCoversTheBox) {
  Info const info = rotated();
  Point const middle = center(info);
  BoundingBox const box = expanded({middle.x, middle.y, middle.x, middle.y}, 5);
  Window const window = window_of(info, box);
  for (Point const& corner : {Point{box.xmin, box.ymin}, Point{box.xmin, box.ymax}, Point{box.xmax, box.ymin}}) {
    Pixel const pixel = to_pixel(info, corner);
    EXPECT_LE(window.column, pixel.column);
    EXPECT_GE(window.column + window.width, pixel.column);
    EXPECT_LE(window.row, pixel.row);
    EXPECT_GE(window.row + window.height, pixel.row);
  }
  EXPECT_LT(window.width, 10U);  // a box of 10 x 10 takes at most 13.7 x 13.7 along the rows: 7 x 5 pixels
}

TEST(WindowOf, OfTheLargestRasterDoesNotOverflow) {
  Info const info = raster({0, 1, 0, 0, 0, -1}, 2147483647, 2147483647);
  EXPECT_EQ(window_of(info, {-1e18, -1e18, 1e18, 1e18}), (Window{0, 0, 2147483647, 2147483647}));
  EXPECT_EQ(window_of(info, {2147483646, -2147483647, 4e9, -2147483646.5}), (Window{2147483646, 2147483646, 1, 1}));
}

TEST(WindowOf, CountsPixelsOfTheLevel) {
  Info info = north_up();
  info.overviews.push_back({.width = 50, .height = 25});
  info.overviews.push_back({.width = 13, .height = 7});
  EXPECT_EQ(window_of(info, {500'012, 3'999'958, 500'031, 3'999'989}, 1), (Window{0, 0, 2, 3}));
  EXPECT_EQ(window_of(info, bounds(info), 2), (Window{0, 0, 13, 7}));
  EXPECT_EQ(kind_of_failure([&] { return window_of(info, bounds(info), 3); }), ErrorKind::usage);
}

TEST(GridWindowOf, IsNotClipped) {
  EXPECT_EQ(grid_window_of(north_up(), {499'985, 3'999'985, 500'015, 4'000'020}), (GridWindow{-2, -2, 4, 4}));
  EXPECT_EQ(grid_window_of(north_up(), {500'012, 3'999'958, 500'031, 3'999'989}), (GridWindow{1, 1, 3, 4}));
  EXPECT_EQ(grid_window_of(north_up(), {0, 0, 10, 10}), (GridWindow{-50'000, 399'999, 1, 1}));
}

TEST(GridWindowOf, RefusesBoxesThatNoResultHolds) {
  for (BoundingBox const& box :
       {BoundingBox{0, 0, 3e10, 1}, BoundingBox{-1e300, 0, 1e300, 1}, BoundingBox{1e300, 0, 1.1e300, 1},
        BoundingBox{0, 0, 0, 0}, BoundingBox{0, 0, kInfinity, 1}}) {
    EXPECT_EQ(kind_of_failure([&] { return grid_window_of(north_up(), box); }), ErrorKind::usage);
  }
}

TEST(PartInside, ClipsTheWindowToTheLevel) {
  Info info = north_up();
  info.width = 100;
  info.height = 50;
  info.overviews.push_back({.width = 50, .height = 10});
  EXPECT_EQ(part_inside(info, {-5, -3, 20, 20}), (Window{0, 0, 15, 17}));
  EXPECT_EQ(part_inside(info, {3, 4, 5, 6}), (Window{3, 4, 5, 6}));
  EXPECT_EQ(part_inside(info, {40, 8, 20, 20}, 1), (Window{40, 8, 10, 2}));
  EXPECT_FALSE(part_inside(info, {100, 0, 5, 5}));
  EXPECT_FALSE(part_inside(info, {0, -5, 5, 5}));
  EXPECT_FALSE(part_inside(info, {std::numeric_limits<std::int64_t>::max(), 0, 5, 5}));
  EXPECT_EQ(kind_of_failure([&] { return part_inside(info, {0, 0, 5, 5}, 2); }), ErrorKind::usage);
}

TEST(TransformOf, MovesTheOriginToTheWindow) {
  EXPECT_EQ(transform_of(north_up(), {3, 4, 10, 10}), (std::array<double, 6>{500'030, 10, 0, 3'999'960, 0, -10}));
  Info const info = rotated();
  auto const t = transform_of(info, {3, 4, 10, 10});
  Point const origin = to_world(info, Pixel{3, 4});
  EXPECT_EQ(t[0], origin.x);
  EXPECT_EQ(t[3], origin.y);
  EXPECT_EQ(t[1], (*info.georeference.transform)[1]);
}

TEST(TransformOf, HasLargerPixelsInAnOverview) {
  Info info = north_up();
  info.overviews.push_back({.width = 50, .height = 10});
  EXPECT_EQ(transform_of(info, {1, 1, 1, 1}, 1), (std::array<double, 6>{500'020, 20, 0, 3'999'950, 0, -50}));
}

}  // namespace
}  // namespace terrazzo
