// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/sample.hpp"

#include "read/images.hpp"
#include "support/data_folder.hpp"
#include "support/failure.hpp"
#include "support/raster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace terrazzo::reading {
namespace {

using testing::failure_of;
using testing::kind_of_failure;
using testing::Raster;

// Pixels of 2 x 2 from (1000, 2000) on, north up.
testing::TiffBuilder& place(testing::TiffBuilder& builder) {
  return builder.doubles(33550, {2, 2, 0}).doubles(33922, {0, 0, 0, 1000, 2000, 0});
}

Point centre_of(std::uint32_t column, std::uint32_t row) { return {1001.0 + 2.0 * column, 1999.0 - 2.0 * row}; }

Raster placed_image(ImageSpec const& spec) {
  testing::TiffBuilder builder = image<std::uint16_t>(spec);
  return Raster(place(builder));
}

ImageSpec tiled(std::uint16_t bands = 2) {
  return {.width = 100, .height = 70, .bands = bands, .tile_width = 32, .tile_height = 16, .compression = kPackBits};
}

struct Places {
  std::vector<Point> points;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pixels;  // column, row
};

Places random_places(std::size_t count, std::uint32_t width, std::uint32_t height) {
  std::mt19937 random(7);
  Places places;
  for (std::size_t i = 0; i < count; ++i) {
    auto const column = static_cast<std::uint32_t>(random() % width),
               row = static_cast<std::uint32_t>(random() % height);
    places.pixels.emplace_back(column, row);
    places.points.push_back(centre_of(column, row));
  }
  return places;
}

void expect_values(SampleResult const& samples, Places const& places, std::vector<std::uint32_t> const& bands) {
  ASSERT_EQ(samples.values.width(), places.points.size());
  ASSERT_EQ(samples.values.bands(), bands.size());
  auto const values = samples.values.view<std::uint16_t>();
  for (std::size_t i = 0; i < places.points.size(); ++i) {
    auto const [column, row] = places.pixels[i];
    for (std::uint32_t b = 0; b < bands.size(); ++b) {
      ASSERT_EQ(samples.state(b, i), SampleState::valid);
      ASSERT_EQ(values(b, 0, static_cast<std::uint32_t>(i)), value_at<std::uint16_t>(bands[b] - 1, row, column));
    }
  }
}

TEST(Sample, GivesThePixelThatContainsEachPointInTheirOrder) {
  Places const places = random_places(500, 100, 70);
  ImageSpec separate = tiled(), strips = tiled(), plain = tiled();
  separate.separate = true;
  strips.tile_width = strips.tile_height = 0;
  strips.rows_per_strip = 7;
  plain.compression = kNone;
  for (ImageSpec const& spec : {tiled(), separate, strips, plain}) {
    Raster const raster = placed_image(spec);
    expect_values(sample(raster.dataset(), places.points), places, {1, 2});
    expect_values(sample(raster.dataset(), places.points, {.bands = {2, 1, 2}, .threads = 3}), places, {2, 1, 2});
  }
}

TEST(Sample, DecodesEachTileOnce) {
  Places const places = random_places(2000, 100, 70);
  Raster const raster = placed_image(tiled());
  ReadReport report;
  static_cast<void>(sample(raster.dataset(), places.points, {}, &report));
  EXPECT_EQ(report.tiles, 4U * 5U);
  Places const one = random_places(300, 32, 16);
  static_cast<void>(sample(raster.dataset(), one.points, {}, &report));
  EXPECT_LE(report.tiles, 1U);  // none if the cache still has it
}

TEST(Sample, PointsOutsideOrNotFiniteHaveNoValue) {
  Raster const raster = placed_image(tiled(1));
  double const inf = std::numeric_limits<double>::infinity();
  std::vector<Point> const points = {{999.9, 1999}, centre_of(3, 4),      {1200, 1999}, {1001, 2000.1},
                                     {1001, 1860},  {std::nan(""), 1999}, {inf, inf},   {-1e308, 1e308}};
  SampleResult const samples = sample(raster.dataset(), points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(samples.state(0, i), i == 1 ? SampleState::valid : SampleState::outside) << i;
    std::uint16_t const expected = i == 1 ? value_at<std::uint16_t>(0, 4, 3) : 0;
    EXPECT_EQ(samples.values.view<std::uint16_t>()(0, 0, static_cast<std::uint32_t>(i)), expected);
  }
}

TEST(Sample, TellsNodataFromValues) {
  testing::TiffBuilder builder = image<std::uint16_t>(tiled(1));
  std::uint16_t const nodata = value_at<std::uint16_t>(0, 4, 3);
  place(builder).ascii(42113, std::to_string(nodata));
  Raster const raster(builder);
  std::vector<Point> const points = {centre_of(3, 4), centre_of(4, 4)};
  for (ReadRequest const& request : {ReadRequest{}, ReadRequest{.masked = true}, ReadRequest{.dtype = DType::f32}}) {
    SampleResult const samples = sample(raster.dataset(), points, request);
    EXPECT_EQ(samples.state(0, 0), SampleState::missing);
    EXPECT_EQ(samples.state(0, 1), SampleState::valid);
  }
  EXPECT_EQ(sample(raster.dataset(), points).values.view<std::uint16_t>()(0, 0, 0), nodata);
  EXPECT_TRUE(std::isnan(sample(raster.dataset(), points, {.masked = true}).values.view<double>()(0, 0, 0)));
}

TEST(Sample, TakesValidityFromMasksAndLevels) {
  Dataset const dataset = open(testing::data_folder() / "cog_mask_overviews.tif");
  Info const& info = dataset.info();
  for (std::uint32_t level = 0; level <= info.overviews.size(); ++level) {
    HostArray const values = read(dataset, {.level = level}), mask = read_mask(dataset, {.level = level});
    std::vector<Point> points;
    double const across = static_cast<double>(info.width) / values.width();
    double const down = static_cast<double>(info.height) / values.height();
    for (std::uint32_t row = 0; row < values.height(); ++row) {
      for (std::uint32_t column = 0; column < values.width(); ++column) {
        points.push_back(to_world(info, Pixel{(column + 0.5) * across, (row + 0.5) * down}));
      }
    }
    SampleResult const samples = sample(dataset, points, {.level = level});
    EXPECT_TRUE(std::ranges::equal(samples.values.bytes(), values.bytes()));
    for (std::size_t i = 0; i < samples.states.size(); ++i) {
      ASSERT_EQ(samples.states[i] == SampleState::valid, mask.bytes()[i] == std::byte{255}) << level << ' ' << i;
    }
  }
}

TEST(Sample, ReadsLargeBlocksPixelByPixel) {
  // One strip of 36 MiB.
  ImageSpec const spec{.width = 6144, .height = 3072, .compression = kPackBits};
  Raster const raster = placed_image(spec);
  Places places = random_places(100, 6144, 3072);
  places.pixels.insert(places.pixels.end(), {{0, 0}, {6143, 3071}});
  places.points.insert(places.points.end(), {centre_of(0, 0), centre_of(6143, 3071)});
  ReadReport report;
  expect_values(sample(raster.dataset(), places.points, {}, &report), places, {1});
  EXPECT_EQ(report.tiles, 1U);
}

TEST(Sample, OfNoPointsIsEmpty) {
  Raster const raster = placed_image(tiled());
  SampleResult const samples = sample(raster.dataset(), {});
  EXPECT_EQ(samples.values.width(), 0U);
  EXPECT_EQ(samples.values.bands(), 2U);
  EXPECT_TRUE(samples.states.empty());
}

TEST(Sample, RefusesRequestsThatMakeNoSense) {
  Raster const raster = placed_image(tiled());
  std::vector<Point> const points = {centre_of(0, 0)};
  for (ReadRequest const& request : {ReadRequest{.window = Window{0, 0, 1, 1}}, ReadRequest{.level = 1},
                                     ReadRequest{.target_size = TargetSize{1, 1}}, ReadRequest{.bands = {3}}}) {
    EXPECT_EQ(kind_of_failure([&] { return sample(raster.dataset(), points, request); }), ErrorKind::usage);
  }
  Raster const nowhere(image<std::uint16_t>(tiled()));
  EXPECT_EQ(kind_of_failure([&] { return sample(nowhere.dataset(), points); }), ErrorKind::usage);
}

TEST(Sample, StopsAtTheMemoryLimit) {
  Raster const raster = placed_image(tiled());
  std::vector<Point> const points(100'000, centre_of(0, 0));
  EXPECT_EQ(kind_of_failure([&] { return sample(raster.dataset(), points, {.memory_limit_bytes = 100'000}); }),
            ErrorKind::limit);
}

TEST(Sample, TellsItsProgressAndCanBeCancelled) {
  Places const places = random_places(2000, 100, 70);
  Raster const raster = placed_image(tiled());
  std::uint64_t last = 0;
  ReadRequest request;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 20U);
    last = done;
    return true;
  };
  static_cast<void>(sample(raster.dataset(), places.points, request));
  EXPECT_EQ(last, 20U);
  request.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(kind_of_failure([&] { return sample(raster.dataset(), places.points, request); }), ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::reading
