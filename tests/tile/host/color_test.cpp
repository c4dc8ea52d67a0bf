// SPDX-License-Identifier: Apache-2.0
//
// Expected colours of YCbCr and CIELab are libtiff's; all 2^24 Lab triples and many YCbCr tables were compared once.
#include "tile/color.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace terrazzo::tile {

static bool operator==(Rgb a, Rgb b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }
static void PrintTo(Rgb rgb, std::ostream* out) {
  *out << int{rgb.red} << ' ' << int{rgb.green} << ' ' << int{rgb.blue};
}

namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count) {
  std::mt19937 engine(17);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine() & 0xFFU); }
  return bytes;
}

std::uint8_t at(Bytes const& bytes, std::size_t index) { return std::to_integer<std::uint8_t>(bytes[index]); }

Rgb rgb_at(Bytes const& bytes, std::size_t index) {
  return {at(bytes, index), at(bytes, index + 1), at(bytes, index + 2)};
}

TEST(CmykToRgb, TakesInkFromLightAndRoundsDown) {
  EXPECT_EQ(cmyk_to_rgb(0, 0, 0, 0), (Rgb{255, 255, 255}));
  EXPECT_EQ(cmyk_to_rgb(255, 0, 255, 0), (Rgb{0, 255, 0}));
  EXPECT_EQ(cmyk_to_rgb(10, 20, 30, 255), (Rgb{0, 0, 0}));
  EXPECT_EQ(cmyk_to_rgb(100, 200, 1, 50), (Rgb{124, 44, 204}));  // 124.6, 44.2, 204.2
}

TEST(CmykRowToRgba, SkipsExtraSamplesAndIsOpaque) {
  Bytes const row = random_bytes(5 * 9);
  Bytes out(4 * 9);
  cmyk_row_to_rgba(row.data(), out.data(), 9, 5);
  for (std::size_t x = 0; x < 9; ++x) {
    EXPECT_EQ(rgb_at(out, 4 * x),
              cmyk_to_rgb(at(row, 5 * x), at(row, 5 * x + 1), at(row, 5 * x + 2), at(row, 5 * x + 3)));
    EXPECT_EQ(at(out, 4 * x + 3), 255);
  }
}

TEST(CmykPlanesToRgba, EqualsTheInterleavedRow) {
  Bytes const row = random_bytes(4 * 9);
  std::array<Bytes, 4> planes;
  for (std::size_t i = 0; i < row.size(); ++i) { planes[i % 4].push_back(row[i]); }
  Bytes from_row(4 * 9);
  Bytes from_planes(4 * 9);
  cmyk_row_to_rgba(row.data(), from_row.data(), 9, 4);
  cmyk_planes_to_rgba({planes[0].data(), planes[1].data(), planes[2].data(), planes[3].data()}, from_planes.data(), 9);
  EXPECT_EQ(from_planes, from_row);
}

TEST(YCbCrToRgb, ConvertsWithTheDefaultTags) {
  auto const table = YCbCrToRgb::make({});
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->convert(0, 128, 128), (Rgb{0, 0, 0}));
  EXPECT_EQ(table->convert(200, 128, 128), (Rgb{200, 200, 200}));
  EXPECT_EQ(table->convert(76, 85, 255), (Rgb{254, 0, 0}));
  EXPECT_EQ(table->convert(150, 44, 21), (Rgb{0, 255, 1}));
  EXPECT_EQ(table->convert(100, 200, 50), (Rgb{0, 131, 228}));
}

TEST(YCbCrToRgb, StretchesByReferenceBlackWhite) {
  YCbCrTags tags;
  tags.reference_black_white = {16, 235, 128, 240, 128, 240};
  auto const table = YCbCrToRgb::make(tags);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->convert(16, 128, 128), (Rgb{0, 0, 0}));
  EXPECT_EQ(table->convert(235, 128, 128), (Rgb{255, 255, 255}));
  EXPECT_EQ(table->convert(81, 90, 240), (Rgb{253, 0, 0}));
  EXPECT_EQ(table->convert(41, 240, 110), (Rgb{1, 0, 254}));
  EXPECT_EQ(table->convert(255, 255, 255), (Rgb{255, 126, 255}));
}

TEST(YCbCrToRgb, SurvivesTagsThatMakeNoSense) {
  float const huge = std::numeric_limits<float>::max();
  for (std::array<float, 3> const& coefficients :
       {std::array<float, 3>{-1, 0.5F, 3}, {1, 1e-30F, 1}, {huge, -huge, huge}, {0.3F, -0.2F, 0.1F}}) {
    YCbCrTags tags;
    tags.coefficients = coefficients;
    tags.reference_black_white = {-2147483392.0F, 2147483520.0F, 5, 5, 200, -200};
    auto const table = YCbCrToRgb::make(tags);
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(table->convert(7, 9, 11), table->convert(7, 9, 11));
  }
}

TEST(YCbCrToRgb, RefusesTagsThatLibtiffRefuses) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(YCbCrToRgb::make({.coefficients = {0.3F, 0, 0.1F}}));
  EXPECT_FALSE(YCbCrToRgb::make({.coefficients = {nan, 0.5F, 0.1F}}));
  EXPECT_FALSE(YCbCrToRgb::make({.reference_black_white = {0, 255, nan, 255, 128, 255}}));
  EXPECT_FALSE(YCbCrToRgb::make({.reference_black_white = {0, 3e9F, 128, 255, 128, 255}}));
}

TEST(YCbCrToRgb, KnowsSevenSubsamplings) {
  int known = 0;
  for (std::uint16_t h = 0; h < 6; ++h) {
    for (std::uint16_t v = 0; v < 6; ++v) {
      known += YCbCrToRgb::make({.subsampling_h = h, .subsampling_v = v}).has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(known, 7);
  EXPECT_TRUE(YCbCrToRgb::make({.subsampling_h = 1, .subsampling_v = 2}));
  EXPECT_FALSE(YCbCrToRgb::make({.subsampling_h = 1, .subsampling_v = 4}));
}

TEST(YCbCrUnits, GiveEachPixelItsLumaAndItsUnitsChroma) {
  for (auto const& [h, v] :
       {std::pair<std::uint16_t, std::uint16_t>{4, 4}, {4, 2}, {4, 1}, {2, 2}, {2, 1}, {1, 2}, {1, 1}}) {
    auto const table = YCbCrToRgb::make({.subsampling_h = h, .subsampling_v = v});
    ASSERT_TRUE(table.has_value());
    for (std::size_t const width : {std::size_t{1}, std::size_t{3}, std::size_t{8}, std::size_t{9}}) {
      std::size_t const rows = 7;
      Bytes const block = random_bytes(ycbcr_block_bytes(width, rows, h, v));
      std::size_t const unit_row = ycbcr_unit_row_bytes(width, h, v);
      for (std::size_t y = 0; y < rows; ++y) {
        Bytes out(3 * width);
        table->units_to_rgb(block.data() + y / v * unit_row, y % v, out.data(), width);
        for (std::size_t x = 0; x < width; ++x) {
          std::size_t const unit = y / v * unit_row + x / h * (std::size_t{h} * v + 2);
          std::uint8_t const luma = at(block, unit + y % v * h + x % h);
          Rgb const expected =
              table->convert(luma, at(block, unit + std::size_t{h} * v), at(block, unit + std::size_t{h} * v + 1));
          ASSERT_EQ(rgb_at(out, 3 * x), expected) << h << 'x' << v << " at " << x << ' ' << y;
        }
      }
    }
  }
}

TEST(YCbCrUnits, AreSeenByLibtiffExceptForARemainder) {
  EXPECT_EQ(ycbcr_block_bytes(73, 43, 4, 4), 19U * 18 * 11);
  EXPECT_EQ(ycbcr_strip_bytes_seen(73, 43, 4, 4), 44U * 85);
  EXPECT_EQ(ycbcr_strip_bytes_seen(64, 10, 2, 2), ycbcr_block_bytes(64, 10, 2, 2));
}

TEST(YCbCrPlanes, EqualTheUnitsWithoutSubsampling) {
  auto const table = YCbCrToRgb::make({.subsampling_h = 1, .subsampling_v = 1});
  ASSERT_TRUE(table.has_value());
  Bytes const row = random_bytes(3 * 9);
  std::array<Bytes, 3> planes;
  for (std::size_t i = 0; i < row.size(); ++i) { planes[i % 3].push_back(row[i]); }
  Bytes from_units(3 * 9);
  Bytes from_planes(3 * 9);
  table->units_to_rgb(row.data(), 0, from_units.data(), 9);
  table->planes_to_rgb({planes[0].data(), planes[1].data(), planes[2].data()}, from_planes.data(), 9);
  EXPECT_EQ(from_planes, from_units);
}

TEST(CieLabToRgb, GivesLibtiffsColours) {
  auto const table = CieLabToRgb::make();
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->convert(0, 0, 0), (Rgb{0, 0, 0}));
  EXPECT_EQ(table->convert(255, 0, 0), (Rgb{255, 252, 222}));
  EXPECT_EQ(table->convert(128, 0, 0), (Rgb{133, 123, 107}));
  EXPECT_EQ(table->convert(20, 5, -5), (Rgb{22, 0, 0}));
  EXPECT_EQ(table->convert(200, -80, 60), (Rgb{0, 227, 42}));
  EXPECT_EQ(table->convert(100, 20, -128), (Rgb{0, 103, 255}));
  EXPECT_EQ(table->convert(15, -128, 127), (Rgb{0, 54, 0}));
}

TEST(CieLabToRgb, ReadsRowsOfSignedChroma) {
  auto const table = CieLabToRgb::make();
  ASSERT_TRUE(table.has_value());
  Bytes const row{std::byte{200}, std::byte{0xB0}, std::byte{60}, std::byte{255}, std::byte{0}, std::byte{0}};
  Bytes out(8);
  table->row_to_rgba(row.data(), out.data(), 2);
  EXPECT_EQ(rgb_at(out, 0), (Rgb{0, 227, 42}));
  EXPECT_EQ(rgb_at(out, 4), (Rgb{255, 252, 222}));
  EXPECT_EQ(at(out, 3), 255);
  EXPECT_EQ(at(out, 7), 255);
}

TEST(CieLabToRgb, RefusesAWhitePointWithoutLight) {
  EXPECT_FALSE(CieLabToRgb::make(std::array<float, 2>{0.3F, 0.0F}));
  EXPECT_FALSE(CieLabToRgb::make(std::array<float, 2>{0.3F, std::numeric_limits<float>::quiet_NaN()}));
  auto const odd = CieLabToRgb::make(std::array<float, 2>{std::numeric_limits<float>::quiet_NaN(), 1e-30F});
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->convert(100, 1, 2).red, 0);
}

}  // namespace
}  // namespace terrazzo::tile
