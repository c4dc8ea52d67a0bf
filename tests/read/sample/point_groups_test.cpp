// SPDX-License-Identifier: Apache-2.0
#include "read/sample/point_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace terrazzo::reading {
namespace {

constexpr BlockGrid kGrid{.width = 100, .height = 50, .block_width = 32, .block_height = 16};

std::vector<std::uint32_t> indices(std::vector<PlacedPoint> const& points) {
  std::vector<std::uint32_t> list;
  for (PlacedPoint const& point : points) { list.push_back(point.index); }
  return list;
}

TEST(PlacePoints, LeavesOutPointsOutsideTheRaster) {
  double const inf = std::numeric_limits<double>::infinity();
  std::vector<Pixel> const pixels = {{-0.001, 0}, {0, 0},    {99.999, 49.999},  {100, 0},   {0, 50},
                                     {inf, 0},    {0, -inf}, {std::nan(""), 3}, {3, 1e300}, {1e10, 3}};
  EXPECT_EQ(indices(place_points(pixels, kGrid)), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(place_points({}, kGrid).empty());
}

TEST(PlacePoints, SortsByBlockAndKeepsTheOrderInside) {
  std::vector<Pixel> const pixels = {{40, 0}, {40, 20}, {3.7, 15.2}, {33, 1}, {0, 0}};
  auto const placed = place_points(pixels, kGrid);
  EXPECT_EQ(indices(placed), (std::vector<std::uint32_t>{2, 4, 0, 3, 1}));
  EXPECT_EQ(placed[0].column, 3U);
  EXPECT_EQ(placed[0].row, 15U);
}

TEST(GroupByBlock, HasOneGroupForEachBlockWithTheSmallestWindow) {
  std::vector<Pixel> const pixels = {{40, 0}, {40, 20}, {3.7, 15.2}, {33, 1}, {0, 2}, {99, 49}};
  auto const placed = place_points(pixels, kGrid);
  auto const groups = group_by_block(placed, kGrid);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].window, (Window{0, 2, 4, 14}));
  EXPECT_EQ(groups[1].window, (Window{33, 0, 8, 2}));
  EXPECT_EQ(groups[2].window, (Window{40, 20, 1, 1}));
  EXPECT_EQ(groups[3].window, (Window{99, 49, 1, 1}));
  EXPECT_EQ(groups[1].first, 2U);
  EXPECT_EQ(groups[1].count, 2U);
  EXPECT_TRUE(group_by_block({}, kGrid).empty());
}

}  // namespace
}  // namespace terrazzo::reading
