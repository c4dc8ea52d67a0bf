// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/boundless.hpp"

#include "read/images.hpp"
#include "support/failure.hpp"
#include "support/raster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace terrazzo::reading {
namespace {

using testing::kind_of_failure;
using testing::Raster;

constexpr std::uint32_t kWidth = 40, kHeight = 30;

testing::TiffBuilder two_bands() {
  return image<std::uint16_t>(
      {.width = kWidth, .height = kHeight, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
}

// Nodata 65000, which no pixel has.
Raster with_nodata() {
  testing::TiffBuilder builder = two_bands();
  builder.ascii(42113, "65000");
  return Raster(builder);
}

bool is_inside(std::int64_t column, std::int64_t row) {
  return column >= 0 && column < kWidth && row >= 0 && row < kHeight;
}

void expect_pixels(HostArray const& pixels, GridWindow const& window, std::uint16_t outside) {
  ASSERT_EQ(pixels.width(), window.width);
  ASSERT_EQ(pixels.height(), window.height);
  auto const values = pixels.view<std::uint16_t>();
  for (std::uint32_t band = 0; band < pixels.bands(); ++band) {
    for (std::uint32_t y = 0; y < window.height; ++y) {
      for (std::uint32_t x = 0; x < window.width; ++x) {
        std::int64_t const column = window.column + x, row = window.row + y;
        std::uint16_t const expected =
            is_inside(column, row)
                ? value_at<std::uint16_t>(band, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column))
                : outside;
        ASSERT_EQ(values(band, y, x), expected) << column << ' ' << row;
      }
    }
  }
}

TEST(ReadBoundless, FillsPixelsOutsideWithNodataOrZero) {
  Raster const plain(two_bands()), nodata = with_nodata();
  for (GridWindow const& window : {GridWindow{-5, -3, 20, 20}, GridWindow{30, 20, 30, 25}, GridWindow{-7, -9, 60, 50},
                                   GridWindow{0, 0, 40, 30}, GridWindow{3, 4, 5, 6}, GridWindow{-2, 5, 1, 1}}) {
    expect_pixels(read_boundless(plain.dataset(), window), window, 0);
    expect_pixels(read_boundless(nodata.dataset(), window), window, 65000);
  }
}

TEST(ReadBoundless, FillsPixelsOutsideAsMissingPixels) {
  for (Raster const& raster : {Raster(two_bands()), with_nodata()}) {
    HostArray const pixels = read_boundless(raster.dataset(), {-1, -1, 3, 3}, {.masked = true});
    auto const values = pixels.view<double>();
    EXPECT_TRUE(std::isnan(values(0, 0, 0)));
    EXPECT_TRUE(std::isnan(values(1, 2, 0)));
    EXPECT_EQ(values(1, 1, 1), value_at<std::uint16_t>(1, 0, 0));
  }
  HostArray const converted = read_boundless(with_nodata().dataset(), {-1, -1, 2, 2}, {.dtype = DType::f32});
  EXPECT_EQ(converted.view<float>()(0, 0, 0), 65000.0F);
}

TEST(ReadBoundless, OfAWindowOutsideIsAllFilled) {
  Raster const raster = with_nodata();
  std::int64_t const most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  for (GridWindow const& window :
       {GridWindow{-20, 0, 20, 5}, GridWindow{40, 0, 3, 3}, GridWindow{most, most, 2, 2}, GridWindow{least, 0, 2, 2}}) {
    ReadReport report;
    HostArray const pixels = read_boundless(raster.dataset(), window, {}, &report);
    for (std::uint16_t const value : pixels.as<std::uint16_t>()) { ASSERT_EQ(value, 65000); }
    EXPECT_EQ(report.tiles, 0U);
  }
}

TEST(ReadBoundless, RefusesRequestsThatMakeNoSense) {
  Raster const raster = with_nodata();
  auto const kind = [&](GridWindow const& window, ReadRequest const& request) {
    return kind_of_failure([&] { return read_boundless(raster.dataset(), window, request); });
  };
  EXPECT_EQ(kind({0, 0, 0, 5}, {}), ErrorKind::usage);
  EXPECT_EQ(kind({0, 0, 5, 5}, {.window = Window{0, 0, 1, 1}}), ErrorKind::usage);
  EXPECT_EQ(kind({0, 0, 5, 5}, {.target_size = TargetSize{1, 1}}), ErrorKind::usage);
  EXPECT_EQ(kind({0, 0, 5, 5}, {.level = 1}), ErrorKind::usage);
  EXPECT_EQ(kind({0, 0, 2147483647, 2147483647}, {}), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::reading
