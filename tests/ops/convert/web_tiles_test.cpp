// SPDX-License-Identifier: Apache-2.0
#include "support/failure.hpp"
#include "support/raster.hpp"

#include "terrazzo/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace terrazzo {
namespace {

using testing::failure_of;
using testing::kind_of_failure;
using testing::Raster;

constexpr std::uint32_t kWidth = 40, kHeight = 30;
constexpr double kLevel10 = 6378137 * std::numbers::pi / 128 / 1024;

struct Place {
  double x = 0, y = 0, pixel = kLevel10;
  std::uint16_t epsg = 3857;
};

Raster make_raster(Place const& place) {
  std::vector<std::uint16_t> samples(std::size_t{kWidth} * kHeight);
  std::iota(samples.begin(), samples.end(), std::uint16_t{1});
  auto builder = testing::raster_builder<std::uint16_t>(kWidth, kHeight, samples, 8);
  builder.raw(33550, 12, 3, testing::as_bytes(std::vector<double>{place.pixel, place.pixel, 0}));
  builder.raw(33922, 12, 6, testing::as_bytes(std::vector<double>{0, 0, 0, place.x, place.y, 0}));
  builder.shorts(34735, {1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, place.epsg});
  return Raster(builder);
}

ConvertSetup aligned(Dataset const& source, WebTileOptions const& options = {}, ReadRequest const& read = {}) {
  ConvertSetup setup{.write = conversion_options(source, read), .read = read};
  align_to_web_tiles(source, setup, options);
  return setup;
}

TEST(AlignToWebTiles, KeepsThePixelsOfARasterOnTheGridOfTheLevel) {
  Raster const source = make_raster({10 * kLevel10, -20 * kLevel10});
  ConvertSetup const setup = aligned(source.dataset());
  EXPECT_FALSE(setup.read.has_target());
  EXPECT_EQ(setup.margins, (Margins{10, 20, 256 - 10 - kWidth, 256 - 20 - kHeight}));
  EXPECT_TRUE(setup.write.mask) << "the raster has no nodata";
  EXPECT_TRUE(setup.write.cog);
  EXPECT_EQ(setup.write.tile_size.width, 256u);
  EXPECT_EQ(*setup.write.metadata.find("NAME", "TILING_SCHEME"), "GoogleMapsCompatible");
  EXPECT_EQ(*setup.write.metadata.find("ZOOM_LEVEL", "TILING_SCHEME"), "10");
  EXPECT_EQ(setup.write.metadata.find("ALIGNED_LEVELS", "TILING_SCHEME"), nullptr);
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source.dataset(), memory_sink(bytes), setup));
  Dataset const result = open_memory(bytes);
  HostArray const before = read(source.dataset());
  HostArray const after = read(result, {.window = Window{10, 20, kWidth, kHeight}});
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  EXPECT_NEAR(result.info().georeference.transform->at(0), 0, 1e-6);
}

TEST(AlignToWebTiles, TakesARasterThatIsTheTilesAsItIs) {
  Raster const source = make_raster({0, 0, kLevel10 * 256 / 32});
  ConvertSetup const setup = aligned(source.dataset(), {.tile_size = 32}, {.window = Window{0, 0, 32, 30}});
  EXPECT_EQ(setup.margins, (Margins{0, 0, 0, 2}));
  EXPECT_EQ(setup.read.window, (Window{0, 0, 32, 30}));
}

TEST(AlignToWebTiles, ResamplesAnotherGridByCubicOrAsAsked) {
  Raster const source = make_raster({1000, 2000, 160});
  ConvertSetup const setup = aligned(source.dataset());
  ASSERT_TRUE(setup.read.target_grid);
  EXPECT_EQ(setup.read.resampling, Resampling::cubic);
  EXPECT_EQ(aligned(source.dataset(), {.resampling = Resampling::average}).read.resampling, Resampling::average);
  TargetGrid const& grid = *setup.read.target_grid;
  EXPECT_EQ(grid.first_column, setup.margins.left);
  EXPECT_EQ(grid.first_column + grid.width + setup.margins.right, 256u);
  // The middle of the first pixel is the first one inside.
  double const middle = grid.column + (grid.first_column + 0.5) * grid.column_step;
  EXPECT_GE(middle, 0);
  EXPECT_LT(middle, grid.column_step);
  EXPECT_NEAR(grid.column_step, kLevel10 / 160, 1e-12);
}

TEST(AlignToWebTiles, GivesTheSameFileInAnyBlocks) {
  Raster const source = make_raster({1000, 2000, 160});
  ConvertSetup setup = aligned(source.dataset());
  std::vector<std::byte> whole, small;
  static_cast<void>(convert(source.dataset(), memory_sink(whole), setup));
  setup.write.streaming_buffer_bytes = 1;
  static_cast<void>(convert(source.dataset(), memory_sink(small), setup));
  EXPECT_EQ(whole, small);
}

TEST(AlignToWebTiles, SaysWhatToDoFirstWithAnotherCrs) {
  Raster const utm = make_raster({.epsg = 32632});
  Error const error = failure_of([&] { return aligned(utm.dataset()); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(error.message().find("EPSG:32632"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("gdalwarp -t_srs EPSG:3857"), std::string::npos) << error.message();
}

TEST(AlignToWebTiles, RefusesATargetOfAnotherKind) {
  Raster const source = make_raster({});
  EXPECT_EQ(kind_of_failure([&] {
              return aligned(source.dataset(), {}, {.target_size = TargetSize{9, 9}});
            }),
            ErrorKind::usage);
}

TEST(ConversionOptions, LeaveOutTheTilingSchemeOfTheSource) {
  Raster const source = make_raster({});
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source.dataset(), memory_sink(bytes), aligned(source.dataset())));
  Dataset const tiles = open_memory(bytes);
  EXPECT_NE(tiles.info().metadata.find("NAME", "TILING_SCHEME"), nullptr);
  EXPECT_EQ(conversion_options(tiles).metadata.find("NAME", "TILING_SCHEME"), nullptr);
}

}  // namespace
}  // namespace terrazzo
