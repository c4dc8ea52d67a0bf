// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/array.hpp"

#include "read/images.hpp"
#include "support/failure.hpp"
#include "support/raster.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

namespace terrazzo::reading {
namespace {

using testing::failure_of;
using testing::kind_of_failure;
using testing::Raster;

static_assert(!std::is_copy_constructible_v<Array<float>> && std::is_nothrow_move_constructible_v<Array<float>>);
static_assert(std::is_same_v<decltype(std::declval<Array<float> const&>()(0, 0, 0)), float const&>);
static_assert(std::is_same_v<decltype(std::declval<Array<float> const&>().row(0)), std::span<float const>>);
static_assert(std::is_same_v<decltype(std::declval<Array<float> const&>().band(0)), BandSpan<float const>>);

constexpr std::uint32_t kWidth = 21, kHeight = 17;

// Read as other types, these samples are wrong: they are negative and use both bytes.
std::int16_t height_at(std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  return static_cast<std::int16_t>(-3000 + 37 * static_cast<int>(row) + 7 * static_cast<int>(column) +
                                   1000 * static_cast<int>(band));
}

Raster heights(std::uint16_t bands) {
  testing::TiffBuilder builder =
      image<std::int16_t>({.width = kWidth, .height = kHeight, .bands = bands, .rows_per_strip = 4}, height_at);
  builder.ascii(42113, "-3000");
  return Raster(builder);
}

TEST(Array, HasSamplesByBandRowAndColumn) {
  Raster const raster = heights(2);
  auto const array = read<std::int16_t>(raster.dataset());
  ASSERT_EQ(array.bands(), 2u);
  ASSERT_EQ(array.height(), kHeight);
  ASSERT_EQ(array.width(), kWidth);
  ASSERT_EQ(array.size(), std::size_t{2} * kHeight * kWidth);
  for (std::uint32_t band = 0; band < 2; ++band) {
    auto const plane = array.band(band);
    ASSERT_EQ(plane.height(), kHeight);
    ASSERT_EQ(plane.width(), kWidth);
    for (std::uint32_t row = 0; row < kHeight; ++row) {
      std::span<std::int16_t const> const samples = plane.row(row);
      ASSERT_EQ(samples.size(), kWidth);
      for (std::uint32_t column = 0; column < kWidth; ++column) {
        ASSERT_EQ(array(band, row, column), height_at(band, row, column));
        ASSERT_EQ(&plane(row, column), &array(band, row, column));
        ASSERT_EQ(&samples[column], &array(band, row, column));
      }
    }
  }
}

TEST(Array, IsARangeOfItsSamples) {
  Raster const raster = heights(2);
  auto const array = read<std::int16_t>(raster.dataset());
  std::int64_t sum = 0, expected = 0, second = 0;
  for (std::int16_t const height : array) { sum += height; }
  for (std::int16_t const height : array.band(1)) { second += height; }
  for (std::uint32_t row = 0; row < kHeight; ++row) {
    for (std::uint32_t column = 0; column < kWidth; ++column) {
      expected += height_at(0, row, column);
      second -= height_at(1, row, column);
      expected += height_at(1, row, column);
    }
  }
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(second, 0);
}

TEST(Array, GivesTheRowsOfItsOnlyBand) {
  Raster const one = heights(1);
  auto const array = read<std::int16_t>(one.dataset(), {.window = Window{3, 5, 4, 2}});
  EXPECT_EQ(array.row(1)[2], height_at(0, 6, 5));
  Raster const two = heights(2);
  auto const both = read<std::int16_t>(two.dataset());
  EXPECT_EQ(kind_of_failure([&] { return both.row(0); }), ErrorKind::usage) << "of which band?";
}

TEST(Array, RefusesBandsAndRowsThatItDoesNotHave) {
  Raster const raster = heights(2);
  auto const array = read<std::int16_t>(raster.dataset());
  EXPECT_EQ(kind_of_failure([&] { return array.band(1).row(kHeight - 1); }), std::nullopt);
  EXPECT_EQ(kind_of_failure([&] { return array.band(2); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { return array.band(0).row(kHeight); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { return array.band(0xFFFFFFFF); }), ErrorKind::usage);
}

TEST(Array, RefusesATypeThatIsNotThatOfTheResult) {
  Raster const raster = heights(1);
  Error const error = failure_of([&] { return read<float>(raster.dataset()); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find("int16"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("float32"), std::string::npos) << error.what();
  // The same size is not the same type.
  EXPECT_EQ(kind_of_failure([&] { return read<std::uint16_t>(raster.dataset()); }), ErrorKind::usage);
  // Masked integers are float64.
  EXPECT_EQ(kind_of_failure([&] { return read<std::int16_t>(raster.dataset(), {.masked = true}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { return read<double>(raster.dataset(), {.masked = true}); }), std::nullopt);
}

TEST(Array, RefusesATypeBeforeItReads) {
  Raster const raster = heights(1);
  ReadReport report;
  EXPECT_EQ(kind_of_failure([&] { return read<float>(raster.dataset(), {}, &report); }), ErrorKind::usage);
  EXPECT_EQ(report.tiles, 0u);
  static_cast<void>(read<std::int16_t>(raster.dataset(), {}, &report));
  EXPECT_GT(report.tiles, 0u);
}

TEST(Array, ConvertsOnRequest) {
  Raster const raster = heights(1);
  auto const array = read<float>(raster.dataset(), {.masked = true, .dtype = DType::f32});
  EXPECT_TRUE(std::isnan(array(0, 0, 0))) << "nodata";
  EXPECT_EQ(array(0, 2, 3), static_cast<float>(height_at(0, 2, 3)));
  EXPECT_EQ(kind_of_failure([&] { return read<double>(raster.dataset(), {.dtype = DType::f32}); }), ErrorKind::usage);
}

TEST(Array, TakesOverAndReleasesAnArray) {
  HostArray host(DType::u16, 1, 2, 3);
  auto const samples = host.as<std::uint16_t>();
  std::iota(samples.begin(), samples.end(), std::uint16_t{0});
  Array<std::uint16_t> array(std::move(host));
  EXPECT_EQ(array.data(), samples.data());
  Array<std::uint16_t> moved(std::move(array));
  moved(0, 1, 2) = 77;
  moved.row(0)[0] = 9;
  EXPECT_EQ(moved.view().dtype, DType::u16);
  EXPECT_EQ(moved.host().as<std::uint16_t>()[5], 77);
  HostArray const released = std::move(moved).release();
  EXPECT_EQ(released.as<std::uint16_t>()[0], 9);
  EXPECT_EQ(kind_of_failure([] { return Array<float>(HostArray(DType::u16, 1, 2, 3)); }), ErrorKind::usage);
}

TEST(Array, StartsWithItsSize) {
  Array<double> array(2, 3, 4);
  EXPECT_EQ(array.size(), 24u);
  for (double& value : array) { value = 1; }
  EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0.0), 24);
}

}  // namespace
}  // namespace terrazzo::reading
