// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::tile {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(ReduceRank, FindsSmallestAndLargestWithoutNodata) {
  Raster<std::int16_t> const source{4, 2, {-9999, 3, -9999, -9999, -7, 5, -9999, -9999}, {}};
  Nodata const nodata{.value = -9999};
  auto const least = reduced(source, {.width = 2, .height = 1, .method = Resampling::minimum, .nodata = nodata});
  auto const most = reduced(source, {.width = 2, .height = 1, .method = Resampling::maximum, .nodata = nodata});
  EXPECT_EQ(least.pixels, (std::vector<std::int16_t>{-7, -9999}));
  EXPECT_EQ(most.pixels, (std::vector<std::int16_t>{5, -9999}));
}

TEST(ReduceRank, LeavesNaNOutEvenWithoutNodata) {
  Raster<float> const source{4, 2, {kNaN, 2, kNaN, kNaN, 4, kNaN, kNaN, kNaN}, {}};
  for (auto const& [method, expected] :
       {std::pair{Resampling::minimum, 2.0F}, {Resampling::maximum, 4.0F}, {Resampling::median, 3.0F}}) {
    auto const result = reduced(source, {.width = 2, .height = 1, .method = method});
    EXPECT_EQ(result.pixels[0], expected);
    EXPECT_TRUE(std::isnan(result.pixels[1]));
  }
}

TEST(ReduceRank, KnowsInfinitiesFromNothing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Raster<float> const source{2, 2, {kInfinity, kNaN, kInfinity, kInfinity}, {}};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::minimum}).pixels[0], kInfinity);
}

TEST(ReduceRank, GivesTheSameByVectorsAsByPixels) {
  // A mask that allows everything takes the other way through the code.
  auto source = scrambled<std::uint16_t>(66, 10);
  for (Resampling const method : {Resampling::minimum, Resampling::maximum}) {
    ReduceTo const to{.width = 33, .height = 5, .method = method, .nodata = Nodata{.value = 65000}};
    auto const fast = reduced(source, to);
    auto masked = source;
    for (std::uint16_t const pixel : source.pixels) { masked.mask.push_back(pixel == 65000 ? 0 : 255); }
    EXPECT_EQ(fast.pixels, reduced(masked, to).pixels);
  }
}

TEST(ReduceRank, TakesTheMeanOfTheMiddleTwo) {
  Raster<std::uint8_t> const source{2, 2, {9, 1, 4, 3}, {}};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::median}).pixels[0], 4);
  Raster<std::int64_t> const large{2, 1, {(std::int64_t{1} << 60) + 1, (std::int64_t{1} << 60) + 3}, {}};
  EXPECT_EQ(reduced(large, {.width = 1, .height = 1, .method = Resampling::median}).pixels[0],
            (std::int64_t{1} << 60) + 2);
}

TEST(ReduceRank, TakesTheFirstOfTheMostFrequent) {
  Raster<std::uint8_t> const source{4, 2, {1, 2, 7, 8, 2, 3, 8, 7}, {}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1, .method = Resampling::mode}).pixels,
            (std::vector<std::uint8_t>{2, 8}));
}

TEST(ReduceRank, MasksByMajorityInMode) {
  Raster<std::uint8_t> const source{4, 2, {1, 1, 1, 1, 1, 1, 1, 1}, {255, 0, 255, 0, 0, 0, 255, 255}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1, .method = Resampling::mode}).mask,
            (std::vector<std::uint8_t>{0, 255}));
}

}  // namespace
}  // namespace terrazzo::tile
