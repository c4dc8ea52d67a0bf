// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/coordinates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace terrazzo {
namespace {

constexpr BoundingBox kBox{0, 0, 10, 5};

TEST(BoundingBox, IsEmptyUnlessItHasAnArea) {
  EXPECT_FALSE(is_empty(kBox));
  EXPECT_TRUE(is_empty(BoundingBox{}));
  EXPECT_TRUE(is_empty(BoundingBox{0, 0, 0, 5}));
  EXPECT_TRUE(is_empty(BoundingBox{0, 5, 10, 0}));
  EXPECT_TRUE(is_empty(BoundingBox{0, 0, std::nan(""), 5}));
}

TEST(BoundingBox, IntersectsInTheCommonPart) {
  EXPECT_EQ(intersection(kBox, {4, -2, 20, 3}), (BoundingBox{4, 0, 10, 3}));
  EXPECT_TRUE(is_empty(intersection(kBox, {10, 0, 20, 5})));  // a common edge has no area
  EXPECT_TRUE(is_empty(intersection(kBox, {11, 0, 20, 5})));
  EXPECT_TRUE(is_empty(intersection(kBox, {})));
}

TEST(BoundingBox, UnitesWithoutEmptyBoxes) {
  EXPECT_EQ(united(kBox, {4, -2, 20, 3}), (BoundingBox{0, -2, 20, 5}));
  EXPECT_EQ(united(kBox, {}), kBox);
  EXPECT_EQ(united({7, 7, 7, 7}, kBox), kBox);
  EXPECT_EQ(united(BoundingBox{7, 7, 7, 7}, {}), BoundingBox{});
}

TEST(BoundingBox, ContainsBoxesAndPointsOnItsEdges) {
  EXPECT_TRUE(contains(kBox, kBox));
  EXPECT_TRUE(contains(kBox, BoundingBox{1, 1, 10, 5}));
  EXPECT_FALSE(contains(kBox, BoundingBox{1, 1, 10.5, 5}));
  EXPECT_FALSE(contains(kBox, BoundingBox{1, 1, 1, 1}));
  EXPECT_TRUE(contains(kBox, Point{10, 0}));
  EXPECT_FALSE(contains(kBox, Point{10.1, 0}));
  EXPECT_FALSE(contains(kBox, Point{std::nan(""), 0}));
  EXPECT_FALSE(contains(BoundingBox{}, Point{0, 0}));
}

TEST(BoundingBox, ExpandsAndShrinks) {
  EXPECT_EQ(expanded(kBox, 2), (BoundingBox{-2, -2, 12, 7}));
  EXPECT_EQ(expanded(kBox, -1), (BoundingBox{1, 1, 9, 4}));
  EXPECT_TRUE(is_empty(expanded(kBox, -3)));
}

TEST(Window, IntersectsInTheCommonPixels) {
  Window const window{10, 20, 30, 40};
  EXPECT_EQ(intersection(window, {0, 0, 15, 25}), (Window{10, 20, 5, 5}));
  EXPECT_EQ(intersection(window, {40, 20, 5, 5}), Window{});
  EXPECT_EQ(intersection(window, {15, 25, 0, 5}), Window{});
  EXPECT_TRUE(is_empty(Window{5, 5, 0, 1}));
  EXPECT_FALSE(is_empty(window));
}

TEST(Window, ContainsOnlyWindowsWithPixels) {
  Window const window{10, 20, 30, 40};
  EXPECT_TRUE(contains(window, window));
  EXPECT_TRUE(contains(window, {39, 59, 1, 1}));
  EXPECT_FALSE(contains(window, {39, 59, 2, 1}));
  EXPECT_FALSE(contains(window, {39, 59, 0, 0}));
}

TEST(Window, UnitesWithoutEmptyWindows) {
  EXPECT_EQ(united(Window{10, 20, 5, 5}, {0, 22, 11, 10}), (Window{0, 20, 15, 12}));
  EXPECT_EQ(united(Window{10, 20, 5, 5}, {}), (Window{10, 20, 5, 5}));
  EXPECT_EQ(united(Window{1, 1, 0, 0}, {2, 2, 0, 0}), Window{});
}

TEST(Window, EndsBeyond32BitsDoNotWrapAround) {
  Window const far{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_EQ(intersection(far, far), far);
  EXPECT_EQ(intersection(far, {0, 0, 10, 10}), Window{});
  EXPECT_TRUE(contains(far, {UINT32_MAX, UINT32_MAX, 1, 1}));
  EXPECT_EQ(united(far, {0, 0, 1, 1}), (Window{0, 0, UINT32_MAX, UINT32_MAX}));
}

}  // namespace
}  // namespace terrazzo
