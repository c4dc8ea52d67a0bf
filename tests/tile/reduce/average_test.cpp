// SPDX-License-Identifier: Apache-2.0
//
// Expected values are GDAL 3.12's, of gdaladdo -r average on the same rasters.
#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::tile {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(ReduceAverage, RoundsHalvesUpInUnsignedPixels) {
  Raster<std::uint8_t> const source{4, 2, {1, 2, 255, 255, 1, 2, 254, 254}, {}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1}).pixels, (std::vector<std::uint8_t>{2, 255}));
}

TEST(ReduceAverage, RoundsHalvesAwayFromZeroInSignedPixels) {
  Raster<std::int16_t> const source{4, 2, {-1, -2, 1, 2, -1, -2, 1, 2}, {}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1}).pixels, (std::vector<std::int16_t>{-2, 2}));
}

TEST(ReduceAverage, WeighsPixelsByTheShareThatIsCovered) {
  // Three columns on two: the middle one counts half for each. (3 * 1 + 12 * 0.5) / 1.5 = 6, and (6 + 30) / 1.5 = 24.
  Raster<double> const source{3, 1, {3, 12, 30}, {}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1}).pixels, (std::vector<double>{6, 24}));
}

TEST(ReduceAverage, LeavesNodataOut) {
  Raster<float> const source{4, 2, {-9999, 2, -9999, -9999, 4, 6, -9999, -9999}, {}};
  auto const result = reduced(source, {.width = 2, .height = 1, .nodata = Nodata{.value = -9999}});
  EXPECT_EQ(result.pixels, (std::vector<float>{4, -9999}));
}

TEST(ReduceAverage, LeavesNaNOutOnlyWhereThereIsNodata) {
  Raster<float> const source{4, 2, {kNaN, 2, kNaN, kNaN, 4, 6, kNaN, kNaN}, {}};
  auto const marked = reduced(source, {.width = 2, .height = 1, .nodata = Nodata{.value = std::nan("")}});
  EXPECT_EQ(marked.pixels[0], 4);
  EXPECT_TRUE(std::isnan(marked.pixels[1]));
  EXPECT_TRUE(std::isnan(reduced(source, {.width = 2, .height = 1}).pixels[0]));
  auto const finite = reduced(source, {.width = 2, .height = 1, .nodata = Nodata{.value = -9999}});
  EXPECT_EQ(finite.pixels[0], 4.0F);
  EXPECT_EQ(finite.pixels[1], -9999.0F);
}

TEST(ReduceAverage, StepsAsideWhenItHitsNodata) {
  Raster<std::uint8_t> const low{2, 2, {4, 6, 4, 6}, {}};
  EXPECT_EQ(reduced(low, {.width = 1, .height = 1, .nodata = Nodata{.value = 5}}).pixels[0], 6);
  Raster<float> const halves{2, 1, {-1, 1}, {}};
  EXPECT_EQ(reduced(halves, {.width = 1, .height = 1, .nodata = Nodata{.value = 0}}).pixels[0],
            std::numeric_limits<float>::denorm_min());
}

TEST(ReduceAverage, TakesNoPartInNodataThatNoPixelCanHave) {
  Raster<std::uint8_t> const source{2, 1, {240, 242}, {}};
  Nodata const impossible{.value = -9999, .representable = false};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .nodata = impossible}).pixels[0], 241);
}

TEST(ReduceAverage, CountsWhatTheMaskAllowsAndMasksWhatHasNothing) {
  Raster<std::uint16_t> const source{4, 2, {1, 100, 7, 7, 3, 5, 7, 7}, {255, 0, 0, 0, 1, 0, 0, 0}};
  auto const result = reduced(source, {.width = 2, .height = 1});
  EXPECT_EQ(result.pixels, (std::vector<std::uint16_t>{2, 0}));
  EXPECT_EQ(result.mask, (std::vector<std::uint8_t>{255, 0}));
}

TEST(ReduceAverage, LetsTheMaskWinOverNodata) {
  Raster<std::uint8_t> const source{2, 1, {5, 9}, {255, 255}};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .nodata = Nodata{.value = 5}}).pixels[0], 7);
}

TEST(ReduceAverage, DoesNotOverflowOnTheLargestNumbers) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Raster<float> const even{2, 2, {kLargest, kLargest, kLargest, kLargest}, {}};
  EXPECT_EQ(reduced(even, {.width = 1, .height = 1}).pixels[0], kLargest);
  constexpr double kHuge = std::numeric_limits<double>::max();
  Raster<double> const odd{3, 1, {kHuge, kHuge, kHuge}, {}};
  EXPECT_TRUE(std::isfinite(reduced(odd, {.width = 1, .height = 1}).pixels[0]));
}

TEST(ReduceAverage, AddsColumnsFirstButTheLastPixelsInReadingOrder) {
  // 1 + 2^-24 is 1 in float, 2^-24 + 2^-24 is not lost.
  float const tiny = std::ldexp(1.0F, -24);
  Raster<float> source{10, 2, std::vector<float>(20), {}};
  for (std::size_t i = 0; i < 10; i += 2) {
    source.pixels[i] = 4;
    source.pixels[i + 1] = source.pixels[i + 11] = 4 * tiny;
    source.pixels[i + 10] = 0;
  }
  float const kept = 1 + 2 * tiny;
  EXPECT_EQ(reduced(source, {.width = 5, .height = 1}).pixels, (std::vector<float>{kept, kept, kept, kept, 1}));
}

TEST(ReduceAverage, KeepsExactNodataOf64Bits) {
  std::int64_t const marker = (std::int64_t{1} << 53) + 1;
  Raster<std::int64_t> const source{4, 1, {marker, marker, marker, marker - 1}, {}};
  Nodata const nodata{.value = static_cast<double>(marker), .exact_i64 = marker};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1, .nodata = nodata}).pixels[0], marker);
}

}  // namespace
}  // namespace terrazzo::tile
