// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/framed_rows.hpp"

#include "support/failure.hpp"
#include "support/raster.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::kind_of_failure;
using testing::Raster;

constexpr std::uint32_t kWidth = 11, kHeight = 7;

Raster make_source(std::uint16_t bands) {
  std::vector<std::uint16_t> samples(std::size_t{kWidth} * kHeight * bands);
  std::iota(samples.begin(), samples.end(), std::uint16_t{1});
  return Raster(testing::raster_builder<std::uint16_t>(kWidth, kHeight, samples, 3, bands));
}

class FramedRowsOf : public ::testing::TestWithParam<PlanarLayout> {};

TEST_P(FramedRowsOf, HaveNodataAroundThePixels) {
  Raster const source = make_source(2);
  ConvertSetup setup{.write = conversion_options(source.dataset()), .margins = {3, 2, 5, 2000}};
  setup.write.planar = GetParam();
  setup.write.nodata = make_nodata("60000", DType::u16);
  setup.write.tile_size = {16, 16};
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source.dataset(), memory_sink(bytes), setup));
  HostArray const before = read(source.dataset()), after = read(open_memory(bytes));
  ASSERT_EQ(after.width(), kWidth + 8);
  ASSERT_EQ(after.height(), kHeight + 2002);
  auto const in = before.view<std::uint16_t>();
  auto const out = after.view<std::uint16_t>();
  for (std::uint32_t band = 0; band < 2; ++band) {
    for (std::uint32_t row = 0; row < after.height(); ++row) {
      for (std::uint32_t column = 0; column < after.width(); ++column) {
        bool const inside = column >= 3 && column < 3 + kWidth && row >= 2 && row < 2 + kHeight;
        ASSERT_EQ(out(band, row, column), inside ? in(band, row - 2, column - 3) : 60000) << row << ' ' << column;
      }
    }
  }
}

TEST_P(FramedRowsOf, AreMaskedWithoutNodata) {
  Raster const source = make_source(3);
  ConvertSetup setup{.write = conversion_options(source.dataset()), .margins = {1, 1, 1, 1}};
  setup.write.planar = GetParam();
  setup.write.mask = true;
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source.dataset(), memory_sink(bytes), setup));
  Dataset const result = open_memory(bytes);
  HostArray const mask = read_mask(result, {.bands = {1}}), pixels = read(result);
  auto const valid = mask.view<std::uint8_t>();
  for (std::uint32_t row = 0; row < mask.height(); ++row) {
    for (std::uint32_t column = 0; column < mask.width(); ++column) {
      bool const inside = column >= 1 && column <= kWidth && row >= 1 && row <= kHeight;
      ASSERT_EQ(valid(0, row, column), inside ? 255 : 0);
    }
  }
  EXPECT_EQ(pixels.view<std::uint16_t>()(0, 0, 0), 0);
  EXPECT_EQ(pixels.view<std::uint16_t>()(2, 1, 1), 3);
}

INSTANTIATE_TEST_SUITE_P(BothLayouts, FramedRowsOf,
                         ::testing::Values(PlanarLayout::contiguous, PlanarLayout::separate));

TEST(Margins, NeedAWayToTellMissingPixels) {
  Raster const source = make_source(1);
  ConvertSetup const setup{.write = conversion_options(source.dataset()), .margins = {0, 0, 1, 0}};
  std::vector<std::byte> bytes;
  EXPECT_EQ(kind_of_failure([&] { return convert(source.dataset(), memory_sink(bytes), setup); }), ErrorKind::usage);
}

TEST(Margins, RefuseSumsBeyondTheLargestRaster) {
  Raster const source = make_source(1);
  ConvertSetup setup{.write = conversion_options(source.dataset()), .margins = {UINT32_MAX, 0, UINT32_MAX, 0}};
  setup.write.mask = true;
  std::vector<std::byte> bytes;
  EXPECT_EQ(kind_of_failure([&] { return convert(source.dataset(), memory_sink(bytes), setup); }), ErrorKind::usage);
}

TEST(MarksMissingPixels, ByNodataMaskOrAlpha) {
  WriteOptions options;
  EXPECT_FALSE(marks_missing_pixels(options));
  options.band_info.resize(2);
  options.band_info[1].color = ColorInterpretation::alpha;
  EXPECT_TRUE(marks_missing_pixels(options));
  EXPECT_TRUE(marks_missing_pixels({.mask = true}));
  EXPECT_TRUE(marks_missing_pixels({.nodata = make_nodata("0", DType::u8)}));
}

}  // namespace
}  // namespace terrazzo::ops
