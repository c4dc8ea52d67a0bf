// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/method.hpp"

#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(ReduceNearest, TakesEverySecondPixelOfEvenRows) {
  Raster<std::uint8_t> const source{6, 2, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15}, {}};
  auto const result = reduced(source, {.width = 3, .height = 1, .method = Resampling::nearest});
  EXPECT_EQ(result.pixels, (Bytes{0, 2, 4}));
}

TEST(ReduceNearest, RoundsPixelNumbersAtOddSizes) {
  // 7 / 4 = 1.75: 0, 1.75, 3.5 and 5.25.
  Raster<std::uint8_t> const source{7, 1, {0, 1, 2, 3, 4, 5, 6}, {}};
  auto const result = reduced(source, {.width = 4, .height = 1, .method = Resampling::nearest});
  EXPECT_EQ(result.pixels, (Bytes{0, 2, 4, 5}));
}

TEST(ReduceNearest, CopiesNodataLikeAnyPixel) {
  Raster<std::uint8_t> const source{4, 1, {9, 1, 2, 3}, {}};
  auto const result =
      reduced(source, {.width = 2, .height = 1, .method = Resampling::nearest, .nodata = Nodata{.value = 9}});
  EXPECT_EQ(result.pixels, (Bytes{9, 2}));
}

TEST(ReduceNearest, TakesTheMaskOfTheSamePixel) {
  Raster<std::uint8_t> const source{4, 1, {9, 1, 2, 3}, {0, 255, 1, 0}};
  auto const result = reduced(source, {.width = 2, .height = 1, .method = Resampling::nearest});
  EXPECT_EQ(result.pixels, (Bytes{9, 2}));
  EXPECT_EQ(result.mask, (Bytes{0, 255}));
}

}  // namespace
}  // namespace terrazzo::tile
