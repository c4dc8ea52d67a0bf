// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/web_tile_grid.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace terrazzo::ops {
namespace {

using testing::kind_of_failure;

constexpr double kHalfSide = 6378137 * std::numbers::pi;

WebTileGrid grid_of(double x, double y, double pixel, std::array<std::uint32_t, 2> size,
                    WebTileOptions const& options = {}) {
  return web_tile_grid({x, y - size[1] * pixel, x + size[0] * pixel, y}, pixel, options);
}

// The numbers of GDAL 3.12's COG driver.
TEST(WebTileGrid, IsThatOfGdal) {
  WebTileGrid const grid = grid_of(1'000'000, 6'000'000, 200, {300, 200});
  EXPECT_EQ(grid.zoom_level, 10u);
  EXPECT_EQ(grid.aligned_levels, 0u);
  EXPECT_EQ(grid.width, 768u);
  EXPECT_EQ(grid.height, 512u);
  EXPECT_EQ(grid.transform(),
            (std::array{978393.9620502554, 152.8740565703525, 0.0, 6026906.8062295765, 0.0, -152.8740565703525}));
}

TEST(WebTileGrid, GrowsToTilesOfCoarserLevels) {
  WebTileGrid const grid = grid_of(1'000'000, 6'000'000, 200, {300, 200}, {.aligned_levels = 3, .tile_size = 512});
  EXPECT_EQ(grid.zoom_level, 9u) << "a tile of 512 has the area of one of level 9";
  EXPECT_EQ(grid.aligned_levels, 3u);
  EXPECT_EQ(grid.width, 2048u);
  EXPECT_EQ(grid.height, 2048u);
  EXPECT_EQ(grid.transform(),
            (std::array{939258.2035682462, 152.8740565703525, 0.0, 6261721.357121639, 0.0, -152.8740565703525}));
}

TEST(WebTileGrid, ChoosesTheNearestLevelByRatio) {
  double const level_10 = kHalfSide / 128 / 1024;
  EXPECT_EQ(grid_of(0, 0, level_10, {300, 300}).zoom_level, 10u);
  EXPECT_EQ(grid_of(0, 0, level_10 * 1.41, {300, 300}).zoom_level, 10u);
  EXPECT_EQ(grid_of(0, 0, level_10 * 1.42, {300, 300}).zoom_level, 9u);
  EXPECT_EQ(grid_of(0, 0, level_10 * 0.72, {300, 300}).zoom_level, 10u);
  EXPECT_EQ(grid_of(0, 0, level_10 * 0.70, {300, 300}).zoom_level, 11u);
  EXPECT_EQ(grid_of(0, 0, 4e5, {10, 10}).zoom_level, 0u) << "there is none coarser";
  EXPECT_EQ(grid_of(0, 0, level_10, {300, 300}, {.zoom_level = 3}).zoom_level, 3u);
}

TEST(WebTileGrid, LeavesOutTilesThatLessThanHalfAPixelReachesInto) {
  double const pixel = kHalfSide / 128 / 1024;
  EXPECT_EQ(grid_of(0, 0, pixel, {256, 256}).width, 256u);
  EXPECT_EQ(grid_of(-0.4 * pixel, 0, pixel, {256, 256}).width, 256u);
  EXPECT_EQ(grid_of(-0.6 * pixel, 0, pixel, {256, 256}).width, 512u);
  EXPECT_EQ(grid_of(0.4 * pixel, 0, pixel, {256, 256}).width, 256u);
  EXPECT_EQ(grid_of(0.6 * pixel, 0, pixel, {256, 256}).width, 512u);
}

TEST(WebTileGrid, EndsWithTheSquareOfTheScheme) {
  WebTileGrid const grid = grid_of(-2.2e7, 2.2e7, 40'000, {1100, 1100});
  EXPECT_EQ(grid.zoom_level, 2u);
  EXPECT_EQ(grid.width, 1024u);
  EXPECT_EQ(grid.height, 1024u);
  EXPECT_EQ(grid.xmin, -kHalfSide);
  EXPECT_EQ(grid.ymax, kHalfSide);
}

TEST(WebTileGrid, RefusesWhatTheSchemeDoesNotHave) {
  auto const kind = [](double x, double y, double pixel, WebTileOptions const& options) {
    return kind_of_failure([&] { return grid_of(x, y, pixel, {100, 100}, options); });
  };
  EXPECT_EQ(kind(3e7, 0, 10, {}), ErrorKind::usage) << "outside";
  EXPECT_EQ(kind(0, 0, 1e-5, {}), ErrorKind::usage) << "finer than level 30";
  EXPECT_EQ(kind(0, 0, 10, {.zoom_level = 31}), ErrorKind::usage);
  EXPECT_EQ(kind(0, 0, 10, {.aligned_levels = 11}), ErrorKind::usage);
  EXPECT_EQ(kind(0, 0, 10, {.tile_size = 100}), ErrorKind::usage);
  EXPECT_EQ(kind(-1e7, 1e7, 2e5, {.zoom_level = 30}), ErrorKind::usage) << "2^31 columns";
  EXPECT_EQ(kind(0, 0, 10, {}), std::nullopt);
}

TEST(WebTileOverviews, EndWithOneTile) {
  EXPECT_EQ(web_tile_overviews({.width = 256, .height = 256}, 256), std::vector<std::uint32_t>{});
  EXPECT_EQ(web_tile_overviews({.width = 768, .height = 256}, 256), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(web_tile_overviews({.width = 256, .height = 257 * 256}, 256).size(), 9u);
}

}  // namespace
}  // namespace terrazzo::ops
