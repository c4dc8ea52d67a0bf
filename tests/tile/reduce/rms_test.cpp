// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::tile {
namespace {

TEST(ReduceRms, TakesTheWholeNumberWhoseSquareIsNearest) {
  Raster<std::uint8_t> const source{2, 2, {1, 2, 3, 4}, {}};  // 7.5: 3 * 3 is nearer than 2 * 2
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::rms}).pixels[0], 3);
}

TEST(ReduceRms, DoesNotOverflow) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Raster<float> const source{2, 2, {kLargest, -kLargest, kLargest, -kLargest}, {}};
  EXPECT_FLOAT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::rms}).pixels[0], kLargest);
}

TEST(ReduceRms, LeavesNodataOut) {
  Raster<double> const source{2, 2, {3, -9999, -9999, 5}, {}};
  auto const result =
      reduced(source, {.width = 1, .height = 1, .method = Resampling::rms, .nodata = Nodata{.value = -9999}});
  EXPECT_EQ(result.pixels[0], std::sqrt(17.0));
}

}  // namespace
}  // namespace terrazzo::tile
