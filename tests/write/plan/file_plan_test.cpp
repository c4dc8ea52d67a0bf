// SPDX-License-Identifier: Apache-2.0
//
// Choices that the plan makes for the caller. Refusals of create() are tested in writer_test.cpp.
#include "write/plan/file_plan.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::writing {
namespace {

WriteOptions of(DType dtype, std::uint32_t bands = 1) {
  WriteOptions options;
  options.dtype = dtype;
  options.bands = bands;
  return options;
}

TEST(FilePlan, CountsBlocksAndCutsTheLast) {
  WriteOptions options = of(DType::u16, 3);
  options.tile_size = {64, 32};
  FilePlan const plan = plan_file(200, 100, options);
  LevelPlan const& level = plan.levels[0];
  EXPECT_EQ(level.blocks_across, 4U);
  EXPECT_EQ(level.blocks_down, 4U);
  EXPECT_EQ(level.blocks_per_plane(), 16U);
  EXPECT_EQ(level.rows_of(2), 32U);
  EXPECT_EQ(level.rows_of(3), 4U);
  EXPECT_EQ(plan.shape_of(level, 3).height_px, 32U);  // tiles are always full
  EXPECT_EQ(plan.block_bytes(plan.shape_of(level, 0)), 64U * 32 * 3 * 2);
  EXPECT_EQ(plan.tile_count(), 16U);
}

TEST(FilePlan, MakesStripsAsWideAsTheRaster) {
  WriteOptions options = of(DType::u8);
  options.strip_rows = 30;
  FilePlan const plan = plan_file(200, 100, options);
  EXPECT_FALSE(plan.tiled);
  EXPECT_EQ(plan.levels[0].block_width, 200U);
  EXPECT_EQ(plan.levels[0].blocks_down, 4U);
  EXPECT_EQ(plan.shape_of(plan.levels[0], 3).height_px, 10U);
  options.strip_rows = 1000;
  EXPECT_EQ(plan_file(200, 100, options).levels[0].block_height, 100U);
}

TEST(FilePlan, StoresPlanesApartOnlyWhenThereAreSeveral) {
  WriteOptions options = of(DType::u8, 5);
  options.planar = PlanarLayout::separate;
  options.mask = true;
  FilePlan const plan = plan_file(10, 10, options);
  EXPECT_EQ(plan.planes, 5U);
  EXPECT_EQ(plan.samples_per_block, 1U);
  EXPECT_EQ(plan.tile_count(), 6U);
  options.bands = 1;
  EXPECT_EQ(plan_file(10, 10, options).planes, 1U);
}

TEST(FilePlan, ChoosesThePredictorByTypeAndCodec) {
  auto const chosen = [](DType dtype, Compression compression) {
    WriteOptions options = of(dtype);
    options.compression = compression;
    return plan_file(10, 10, options).predictor;
  };
  for (Compression const codec : {Compression::lzw, Compression::deflate, Compression::zstd, Compression::lzma}) {
    EXPECT_EQ(chosen(DType::f32, codec), tiff::Predictor::floating_point);
    EXPECT_EQ(chosen(DType::f64, codec), tiff::Predictor::floating_point);
    EXPECT_EQ(chosen(DType::u8, codec), tiff::Predictor::horizontal);
    EXPECT_EQ(chosen(DType::i64, codec), tiff::Predictor::horizontal);
    EXPECT_EQ(chosen(DType::cf32, codec), tiff::Predictor::none);
  }
  EXPECT_EQ(chosen(DType::f32, Compression::none), tiff::Predictor::none);
  EXPECT_EQ(chosen(DType::f32, Compression::lerc), tiff::Predictor::none);
  EXPECT_EQ(chosen(DType::u8, Compression::jpeg), tiff::Predictor::none);
}

// A strip of six pixels may have any number of samples of LERC inside zstd, one of three may not.
TEST(FilePlan, RefusesBlocksTooSmallForTheirManySamples) {
  auto const is_usage_error = [](std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
    try {
      static_cast<void>(plan_file(width, height, options));
    } catch (Error const& error) { return error.kind() == ErrorKind::usage; }
    return false;
  };
  WriteOptions options = of(DType::f32, 100);
  options.compression = Compression::lerc_zstd;
  EXPECT_FALSE(is_usage_error(3, 5, options)) << "tiles";
  options.strip_rows = 2;
  EXPECT_FALSE(is_usage_error(3, 4, options));
  EXPECT_TRUE(is_usage_error(3, 5, options));
  options.compression = Compression::lerc;
  EXPECT_FALSE(is_usage_error(3, 5, options));
}

TEST(FilePlan, ChoosesColoursAsGdalDoes) {
  EXPECT_EQ(plan_file(1, 1, of(DType::u8, 1)).photometric, tiff::Photometric::min_is_black);
  EXPECT_EQ(plan_file(1, 1, of(DType::u8, 3)).photometric, tiff::Photometric::rgb);
  EXPECT_EQ(plan_file(1, 1, of(DType::u16, 3)).photometric, tiff::Photometric::min_is_black);
  FilePlan const four = plan_file(1, 1, of(DType::u8, 4));
  EXPECT_EQ(four.photometric, tiff::Photometric::rgb);
  EXPECT_EQ(four.extra_samples, std::vector<std::uint16_t>{2});  // alpha
  EXPECT_EQ(plan_file(1, 1, of(DType::u16, 4)).extra_samples, (std::vector<std::uint16_t>{0, 0, 0}));

  WriteOptions named = of(DType::u16, 4);
  named.band_info.resize(4);
  named.band_info[0].color = ColorInterpretation::red;
  named.band_info[1].color = ColorInterpretation::green;
  named.band_info[2].color = ColorInterpretation::blue;
  EXPECT_EQ(plan_file(1, 1, named).photometric, tiff::Photometric::rgb);
  EXPECT_EQ(plan_file(1, 1, named).extra_samples, std::vector<std::uint16_t>{0});
  named.band_info[3].color = ColorInterpretation::alpha;
  EXPECT_EQ(plan_file(1, 1, named).extra_samples, std::vector<std::uint16_t>{2});
  named.band_info[3].metadata.domains["IMAGE_STRUCTURE"] = {{"ALPHA", "PREMULTIPLIED"}};
  EXPECT_EQ(plan_file(1, 1, named).extra_samples, std::vector<std::uint16_t>{1});
  EXPECT_TRUE(plan_file(1, 1, named).format.block.last_sample_is_alpha);
  named.band_info[3].color = ColorInterpretation::undefined;
  EXPECT_EQ(plan_file(1, 1, named).extra_samples, std::vector<std::uint16_t>{0});
  named.band_info[3].color = ColorInterpretation::alpha;
  named.dtype = DType::u8;
  named.band_info[0].color = ColorInterpretation::gray;
  EXPECT_EQ(plan_file(1, 1, named).photometric, tiff::Photometric::min_is_black);

  WriteOptions palette = of(DType::u8);
  palette.band_info.resize(1);
  palette.band_info[0].color_table.resize(3);
  EXPECT_EQ(plan_file(1, 1, palette).photometric, tiff::Photometric::palette);

  WriteOptions given = of(DType::u8, 4);
  given.photometric = "cmyk";
  EXPECT_EQ(plan_file(1, 1, given).photometric, tiff::Photometric::separated);
  given.photometric = "miniswhite";
  EXPECT_EQ(plan_file(1, 1, given).photometric, tiff::Photometric::min_is_white);

  WriteOptions jpeg = of(DType::u8, 3);
  jpeg.compression = Compression::jpeg;
  EXPECT_EQ(plan_file(1, 1, jpeg).photometric, tiff::Photometric::ycbcr);
  jpeg.planar = PlanarLayout::separate;
  EXPECT_EQ(plan_file(1, 1, jpeg).photometric, tiff::Photometric::rgb);
}

std::vector<std::uint32_t> widths(FilePlan const& plan) {
  std::vector<std::uint32_t> result;
  for (LevelPlan const& level : plan.levels) { result.push_back(level.width); }
  return result;
}

// Rounded down, as GDAL's COG driver does, unlike overviews of given factors.
TEST(FilePlan, HalvesACogUntilOneTileHoldsIt) {
  WriteOptions options = of(DType::u8);
  options.cog = true;
  options.tile_size = {64, 64};
  EXPECT_EQ(widths(plan_file(64, 64, options)), std::vector<std::uint32_t>{64});
  EXPECT_EQ(widths(plan_file(65, 3, options)), (std::vector<std::uint32_t>{65, 32}));
  EXPECT_EQ(widths(plan_file(3, 129, options)), (std::vector<std::uint32_t>{3, 1}));
  EXPECT_EQ(widths(plan_file(300, 300, options)), (std::vector<std::uint32_t>{300, 150, 75, 37}));
  options.overview_factors.emplace();
  EXPECT_EQ(widths(plan_file(300, 300, options)), std::vector<std::uint32_t>{300});
  options.cog = false;
  options.overview_factors.reset();
  EXPECT_EQ(widths(plan_file(300, 300, options)), std::vector<std::uint32_t>{300});
}

TEST(FilePlan, HalvesTheLargestRasters) {
  WriteOptions options = of(DType::u8);
  options.cog = true;
  options.tile_size = {16, 16};
  FilePlan const plan = plan_file(0x7FFFFFFF, 1, options);
  EXPECT_EQ(plan.levels.size(), 28U);
  EXPECT_EQ(plan.levels.back().width, 15U);
  EXPECT_EQ(plan.levels.back().height, 1U);
}

TEST(FilePlan, RoundsOverviewsOfGivenFactorsUp) {
  WriteOptions options = of(DType::u8);
  options.overview_factors = {{2, 4}};
  EXPECT_EQ(widths(plan_file(65, 3, options)), (std::vector<std::uint32_t>{65, 33, 17}));
}

TEST(FilePlan, MakesOverviewsFromTheLevelBeforeUnlessThatIsNoWider) {
  WriteOptions options = of(DType::u8);
  options.overview_factors = {{2, 3, 4, 16}};
  EXPECT_EQ(plan_file(1000, 1000, options).source_of, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(plan_file(2, 1000, options).source_of, (std::vector<std::size_t>{0, 0, 0, 0}));
  EXPECT_EQ(plan_file(3, 1000, options).source_of, (std::vector<std::size_t>{0, 1, 0, 0}));
}

TEST(FilePlan, ChoosesResamplingByKindOfData) {
  EXPECT_EQ(plan_file(1, 1, of(DType::u8)).resampling, Resampling::average);
  WriteOptions classes = of(DType::u8);
  classes.band_info.resize(1);
  classes.band_info[0].category_names = {"water", "land"};
  EXPECT_EQ(plan_file(1, 1, classes).resampling, Resampling::nearest);
  classes.overview_resampling = Resampling::mode;
  EXPECT_EQ(plan_file(1, 1, classes).resampling, Resampling::mode);
}

TEST(FilePlan, TakesBigTiffWhenTheFileCouldPassFourGigabytes) {
  WriteOptions options = of(DType::u8);
  options.compression = Compression::none;
  EXPECT_FALSE(plan_file(30'000, 30'000, options).bigtiff);
  EXPECT_TRUE(plan_file(70'000, 70'000, options).bigtiff);
  options.bigtiff = BigTiff::never;
  options.compression = Compression::lzw;  // it may become small enough
  EXPECT_FALSE(plan_file(70'000, 70'000, options).bigtiff);
  options.compression = Compression::none;
  options.bigtiff = BigTiff::always;
  EXPECT_TRUE(plan_file(1, 1, options).bigtiff);
  // Overviews and planes count.
  options.bigtiff = BigTiff::automatic;
  EXPECT_FALSE(plan_file(60'000, 60'000, options).bigtiff);
  options.overview_factors = {{2}};
  EXPECT_TRUE(plan_file(60'000, 60'000, options).bigtiff);
  options = of(DType::u8, 5);
  options.planar = PlanarLayout::separate;
  EXPECT_TRUE(plan_file(30'000, 30'000, options).bigtiff);
}

TEST(FilePlan, RefusesMoreTilesThanReadersCount) {
  WriteOptions options = of(DType::u8);
  options.tile_size = {16, 16};
  try {
    (void)plan_file(2'000'000, 2'000'000, options);
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
  options.tile_size = {512, 512};
  EXPECT_EQ(plan_file(2'000'000, 2'000'000, options).levels[0].blocks_across, 3907U);
}

TEST(FilePlan, RefusesPixelsThatNoClassicFileHoldsBeforeTheyAreWritten) {
  WriteOptions options = of(DType::f32);
  options.compression = Compression::none;
  options.bigtiff = BigTiff::never;
  EXPECT_FALSE(plan_file(30'000, 30'000, options).bigtiff);
  try {
    (void)plan_file(40'000, 40'000, options);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("BigTiff::automatic"), std::string::npos) << error.message();
  }
  // Overviews have fewer bytes, and compressed tiles may be small enough.
  options.overview_factors = {{2, 4}};
  EXPECT_EQ(plan_overviews(40'000, 40'000, options).levels.size(), 3U);
  options.compression = Compression::zstd;
  EXPECT_FALSE(plan_file(40'000, 40'000, options).bigtiff);
}

TEST(FilePlan, SaysWhatIsWrong) {
  auto const message_of = [](WriteOptions const& options) -> std::string {
    try {
      (void)plan_file(3, 3, options);
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.message();
    }
    return "";
  };
  WriteOptions options = of(DType::u8);
  options.tile_size = {100, 512};
  EXPECT_NE(message_of(options).find("100 x 512"), std::string::npos);
  options.tile_size = {0, 0};
  EXPECT_NE(message_of(options).find("at least 16"), std::string::npos);
  options.tile_size = {16, 16};
  options.overview_factors = {{2, 4, 8}};
  EXPECT_NE(message_of(options).find("factor 4 has one pixel"), std::string::npos) << message_of(options);
}

// As GDAL: a level of one pixel may be there once, however large its factor and small the raster.
TEST(FilePlan, MakesOneLevelOfOnePixel) {
  WriteOptions options = of(DType::u8);
  auto const sizes_of = [&](std::uint32_t side, std::vector<std::uint32_t> factors) {
    options.overview_factors = std::move(factors);
    std::vector<std::uint32_t> sizes;
    for (LevelPlan const& level : plan_file(side, side, options).levels) { sizes.push_back(level.width); }
    return sizes;
  };
  using Sizes = std::vector<std::uint32_t>;
  EXPECT_EQ(sizes_of(1, {2}), (Sizes{1, 1}));
  EXPECT_EQ(sizes_of(2, {4}), (Sizes{2, 1}));
  EXPECT_EQ(sizes_of(3, {2, 4}), (Sizes{3, 2, 1}));
  EXPECT_EQ(sizes_of(3, {0xFFFFFFFF}), (Sizes{3, 1}));
  EXPECT_THROW((void)sizes_of(1, {2, 4}), Error);
  EXPECT_THROW((void)sizes_of(3, {8, 16}), Error);
}

}  // namespace
}  // namespace terrazzo::writing
