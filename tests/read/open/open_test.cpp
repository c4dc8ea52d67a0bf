// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "read/images.hpp"
#include "support/data_folder.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace terrazzo::reading {
namespace {

using testing::TempFolder;
using testing::TiffBuilder;

ImageSpec sized(std::uint32_t width, std::uint32_t height, std::uint32_t subfile_type = 0) {
  return {.width = width, .height = height, .subfile_type = subfile_type};
}

// Images one after the other; the subfile types say what each is.
TiffBuilder chain_of(std::vector<ImageSpec> const& specs) {
  TiffBuilder builder;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i != 0) { builder.next_ifd(); }
    add_image<std::uint8_t>(builder, specs[i]);
  }
  return builder;
}

std::vector<std::uint32_t> overview_widths(Info const& info) {
  std::vector<std::uint32_t> widths;
  for (OverviewInfo const& overview : info.overviews) { widths.push_back(overview.width); }
  return widths;
}

// ---------------------------------------------------------------------------------------------------------------
// What cannot be opened

TEST(Open, RefusesRemoteSourcesAsUnsupported) {
  for (char const* const path : {"http://example.org/a.tif", "https://x/y.tif", "s3://bucket/key.tif", "gs://b/k",
                                 "az://c/k", "/vsicurl/http://x/a.tif", "/vsis3/b/k.tif"}) {
    Error const error = failure_of([&] { static_cast<void>(open(path)); });
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << path;
    EXPECT_NE(error.message().find("remote"), std::string::npos);
    EXPECT_EQ(error.where().source, path);
  }
}

TEST(Open, TakesAFileUrl) {
  TempFolder const folder;
  std::string const path = folder.write("a b.tif", image<std::uint8_t>({.width = 8, .height = 8}).bytes());
  static_cast<void>(folder.write("a b.tfw", "2\n0\n0\n-2\n11\n19\n"));
  std::string const url = path.substr(0, path.size() - 7) + "a%20b.tif";
  for (std::string const& prefix : {std::string("file://"), std::string("file://localhost"), std::string("FILE://")}) {
    Dataset const dataset = open(prefix + url);
    EXPECT_EQ(dataset.info().source, path);
    EXPECT_EQ(dataset.info().files.size(), 2u) << "sidecars are those of the file";
    EXPECT_EQ(dataset.info().width, 8u);
  }
  EXPECT_EQ(failure_of([&] { static_cast<void>(open("file://elsewhere" + url)); }).kind(), ErrorKind::usage);
  EXPECT_EQ(failure_of([&] { static_cast<void>(open("file://" + path + ".no")); }).kind(), ErrorKind::io);
}

TEST(Open, TellsAMissingFileFromADirectoryFromSomethingElse) {
  TempFolder const folder;
  EXPECT_EQ(failure_of([&] { static_cast<void>(open(folder.path("no.tif"))); }).kind(), ErrorKind::io);
  EXPECT_EQ(failure_of([&] { static_cast<void>(open(folder.path(""))); }).kind(), ErrorKind::usage);
  std::string const text = folder.write("text.tif", "this is no raster at all");
  Error const error = failure_of([&] { static_cast<void>(open(text)); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.where().source, text);
  EXPECT_EQ(failure_of([&] { static_cast<void>(open(folder.write("empty.tif", ""))); }).kind(), ErrorKind::malformed);
}

TEST(Open, RefusesAnImageWithoutBlocks) {
  TiffBuilder builder;
  builder.longs(256, {4}).longs(257, {4}).shorts(258, {8});
  Error const error = failure_of([&] { const Opened opened(builder); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.where().tag, 273);
}

TEST(Open, RefusesSamplesThatHaveNoType) {
  TiffBuilder builder;
  builder.longs(256, {4}).longs(257, {4}).shorts(258, {40}).longs(273, {8});
  EXPECT_EQ(failure_of([&] { const Opened opened(builder); }).kind(), ErrorKind::unsupported);
}

TEST(Open, SurvivesBeingCutAnywhere) {
  std::vector<std::byte> const whole =
      image<std::uint8_t>({.width = 8, .height = 8, .bands = 3, .tile_width = 4, .tile_height = 4}).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::byte> const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      static_cast<void>(read(open_memory(cut)));
    } catch (Error const& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::malformed || error.kind() == ErrorKind::unsupported) << error.what();
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Info

TEST(OpenInfo, TellsSizeTypeAndLayout) {
  Opened const opened(image<float>({.width = 100,
                                    .height = 60,
                                    .bands = 2,
                                    .tile_width = 32,
                                    .tile_height = 16,
                                    .separate = true,
                                    .compression = kPackBits,
                                    .order = std::endian::big,
                                    .big = true}));
  Info const& info = opened->info();
  EXPECT_EQ(info.source, "memory.tif");
  EXPECT_EQ(info.width, 100u);
  EXPECT_EQ(info.height, 60u);
  ASSERT_EQ(info.bands.size(), 2u);
  EXPECT_EQ(info.bands[1].dtype, DType::f32);
  EXPECT_EQ(info.bands[1].bits, 32u);
  EXPECT_EQ(info.dtype(), DType::f32);
  EXPECT_TRUE(info.layout.tiled);
  EXPECT_EQ(info.layout.tile_width, 32u);
  EXPECT_EQ(info.layout.tile_height, 16u);
  EXPECT_EQ(info.layout.planar, PlanarLayout::separate);
  EXPECT_EQ(info.layout.compression, 32773u);
  EXPECT_EQ(info.layout.compression_name, "packbits");
  EXPECT_EQ(info.layout.sample_format, "float");
  EXPECT_EQ(info.layout.photometric, "minisblack");
  EXPECT_TRUE(info.layout.bigtiff);
  EXPECT_TRUE(info.layout.big_endian);
  EXPECT_FALSE(info.layout.cog);
  EXPECT_EQ(info.files, (std::vector<std::string>{"memory.tif"}));
  EXPECT_TRUE(info.overviews.empty());
  EXPECT_TRUE(info.pages.empty());
}

TEST(OpenInfo, TellsWhatWasTolerated) {
  TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data(std::vector<std::byte>(16)));
  builder.longs(256, {4}).longs(257, {4}).shorts(258, {8}).longs(273, {at});
  Opened const opened(builder);
  EXPECT_EQ(opened->info().warnings.size(), 1u) << "no RowsPerStrip";
}

TEST(OpenInfo, KnowsGdalsCloudOptimizedLayout) {
  EXPECT_TRUE(open(testing::data_folder() / "cog_mask_overviews.tif").info().layout.cog);
  EXPECT_FALSE(open(testing::data_folder() / "dem_deflate_p3.tif").info().layout.cog);
}

TEST(OpenInfo, InDetailAddsToWhatIsThere) {
  Opened const opened(image<float>({.width = 4, .height = 4}));
  Info const detailed = opened->detailed_info();
  EXPECT_EQ(detailed.width, 4u);
  EXPECT_EQ(detailed.bands.size(), 1u);
}

// ---------------------------------------------------------------------------------------------------------------
// Overviews and pages

TEST(OpenOverviews, AreTheReducedImagesOfTheChain) {
  Opened const opened(chain_of({sized(64, 48), sized(32, 24, 1), sized(16, 12, 1)}));
  EXPECT_EQ(overview_widths(opened->info()), (std::vector<std::uint32_t>{32, 16}));
  EXPECT_FALSE(opened->info().overviews[0].external);
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.level = 2})), (expected<std::uint8_t>({0, 0, 16, 12}, {1})));
  Window const window{3, 4, 20, 10};
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window, .level = 1})),
            expected<std::uint8_t>(window, {1}));
}

TEST(OpenOverviews, OfOtherBandsAreNotOurs) {
  ImageSpec other = sized(32, 24, 1);
  other.bands = 3;
  EXPECT_TRUE(Opened(chain_of({sized(64, 48), other}))->info().overviews.empty());
}

TEST(OpenOverviews, MayBeBrokenWithoutHarm) {
  TiffBuilder builder = chain_of({sized(64, 48)});
  builder.next_ifd();
  builder.longs(254, {1}).longs(256, {32}).longs(257, {0});
  builder.next_ifd();
  builder.longs(254, {1}).longs(256, {32}).longs(257, {24}).shorts(258, {8});  // no offsets
  builder.next_ifd();
  add_image<std::uint8_t>(builder, sized(16, 12, 1));
  EXPECT_EQ(overview_widths(Opened(builder)->info()), (std::vector<std::uint32_t>{16}));
}

TEST(OpenOverviews, AreFoundInSubDirectories) {
  // The child is put into the data by hand: one strip of 4 x 3 bytes.
  TiffBuilder builder;
  std::uint64_t const pixels =
      builder.data({std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}, std::byte{7},
                    std::byte{8}, std::byte{9}, std::byte{10}, std::byte{11}, std::byte{12}});
  std::vector<std::byte> child;
  auto const put = [&](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) { child.push_back(static_cast<std::byte>(value >> (8 * i))); }
  };
  auto const entry = [&](std::uint16_t tag, std::uint32_t value) {
    put(tag, 2);
    put(4, 2);
    put(1, 4);
    put(value, 4);
  };
  put(7, 2);
  entry(254, 1);
  entry(256, 4);
  entry(257, 3);
  entry(258, 8);
  entry(273, static_cast<std::uint32_t>(pixels));
  entry(278, 3);
  entry(279, 12);
  put(0, 4);
  std::uint64_t const at = builder.data(child);
  add_image<std::uint8_t>(builder, sized(8, 6));
  builder.longs(330, {static_cast<std::uint32_t>(at)});
  Opened const opened(builder);
  ASSERT_EQ(overview_widths(opened->info()), (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.level = 1})),
            (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(OpenOverviews, AreNoMoreThanGdalTakes) {
  std::vector<ImageSpec> specs = {sized(64, 48)};
  for (int i = 0; i < 60; ++i) { specs.push_back(sized(2, 2, 1)); }
  EXPECT_EQ(Opened(chain_of(specs))->info().overviews.size(), 30u);
}

TEST(OpenPages, AreListedAndOpenedByTheirNumber) {
  TiffBuilder const builder = chain_of({sized(64, 48), sized(32, 24, 1), sized(20, 10), sized(10, 5, 1), sized(7, 9)});
  Info const first = Opened(builder)->info();
  ASSERT_EQ(first.pages.size(), 2u);
  EXPECT_EQ(first.pages[0].ifd, 2u);
  EXPECT_EQ(first.pages[0].width, 20u);
  EXPECT_EQ(first.pages[1].ifd, 4u);
  Opened const third(builder, {.page = 2});
  EXPECT_EQ(third->info().width, 20u);
  EXPECT_EQ(overview_widths(third->info()), (std::vector<std::uint32_t>{10})) << "those that follow it";
  EXPECT_EQ(values_of<std::uint8_t>(read(*third)), (expected<std::uint8_t>({0, 0, 20, 10}, {1})));
  EXPECT_TRUE(Opened(builder, {.page = 4})->info().overviews.empty());
  Opened const overview(builder, {.page = 1});
  EXPECT_EQ(overview->info().width, 32u) << "any directory can be opened";
}

TEST(OpenPages, OutOfRangeAreAUsageError) {
  Error const error = failure_of([&] { const Opened opened(chain_of({sized(4, 4)}), {.page = 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
}

// ---------------------------------------------------------------------------------------------------------------
// Sidecars

class OpenSidecars : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::string const path_ = folder_.write("dem.tif", chain_of({sized(64, 48)}).bytes());
};

TEST_F(OpenSidecars, OvrHoldsOverviews) {
  folder_.write("dem.tif.ovr", chain_of({sized(32, 24), sized(16, 12, 1)}).bytes());
  Dataset const dataset = open(path_);
  EXPECT_EQ(overview_widths(dataset.info()), (std::vector<std::uint32_t>{32, 16}));
  EXPECT_TRUE(dataset.info().overviews[0].external);
  EXPECT_EQ(dataset.info().files, (std::vector<std::string>{path_, path_ + ".ovr"}));
  EXPECT_EQ(values_of<std::uint8_t>(read(dataset, {.level = 1})), (expected<std::uint8_t>({0, 0, 32, 24}, {1})));
  EXPECT_TRUE(open(path_, {.sidecars = false}).info().overviews.empty());
}

TEST_F(OpenSidecars, OvrIsNotAskedWhenTheFileHasOverviews) {
  std::string const own = folder_.write("own.tif", chain_of({sized(64, 48), sized(32, 24, 1)}).bytes());
  folder_.write("own.tif.ovr", chain_of({sized(16, 12)}).bytes());
  EXPECT_EQ(overview_widths(open(own).info()), (std::vector<std::uint32_t>{32}));
}

TEST_F(OpenSidecars, MskHoldsTheMask) {
  TiffBuilder mask;
  add_image<std::uint8_t>(mask, sized(64, 48, 4), [](std::uint32_t, std::uint32_t r, std::uint32_t) {
    return static_cast<std::uint8_t>(r == 3 ? 0 : 255);
  });
  mask.ascii(42112, "<GDALMetadata><Item name='INTERNAL_MASK_FLAGS_1'>2</Item></GDALMetadata>");
  folder_.write("dem.tif.msk", mask.bytes());
  Dataset const dataset = open(path_);
  EXPECT_EQ(dataset.info().bands[0].mask, MaskKind::external);
  auto const values = values_of<std::uint8_t>(read_mask(dataset, {.window = Window{5, 2, 1, 3}}));
  EXPECT_EQ(values, (std::vector<std::uint8_t>{255, 0, 255}));
}

TEST_F(OpenSidecars, MskWithoutGdalsFlagsIsAnotherProgramsFile) {
  folder_.write("dem.tif.msk", chain_of({sized(64, 48, 4)}).bytes());
  EXPECT_EQ(open(path_).info().bands[0].mask, MaskKind::all_valid);
}

TEST_F(OpenSidecars, AuxXmlWinsOverTheFile) {
  folder_.write("dem.tif.aux.xml", std::string_view("<PAMDataset><PAMRasterBand band='1'><NoDataValue>7</NoDataValue>"
                                                    "<Description>height</Description></PAMRasterBand></PAMDataset>"));
  Info const info = open(path_).info();
  ASSERT_TRUE(info.bands[0].nodata);
  EXPECT_EQ(info.bands[0].nodata->value, 7);
  EXPECT_EQ(info.bands[0].description, "height");
}

TEST_F(OpenSidecars, WorldFileGivesTheTransform) {
  folder_.write("dem.tfw", std::string_view("2\n0\n0\n-2\n101\n199\n"));
  Info const info = open(path_).info();
  ASSERT_TRUE(info.georeference.transform);
  EXPECT_EQ(*info.georeference.transform, (std::array<double, 6>{100, 2, 0, 200, 0, -2}))
      << "of the corner, not the centre";
  EXPECT_EQ(info.georeference.transform_source, TransformSource::world_file);
  EXPECT_EQ(info.files.size(), 2u);
}

TEST_F(OpenSidecars, ThatAreBrokenAreIgnoredWithAWarning) {
  folder_.write("dem.tif.ovr", std::string_view("no TIFF"));
  folder_.write("dem.tif.msk", std::string_view(""));
  folder_.write("dem.tif.aux.xml", std::string_view("<PAMDataset><unclosed>"));
  folder_.write("dem.tfw", std::string_view("not numbers"));
  Dataset const dataset = open(path_);
  EXPECT_EQ(dataset.info().warnings.size(), 2u);
  EXPECT_FALSE(dataset.info().georeference.transform);
  EXPECT_EQ(values_of<std::uint8_t>(read(dataset)), (expected<std::uint8_t>({0, 0, 64, 48}, {1})));
}

TEST_F(OpenSidecars, ThatAreDirectoriesAreNone) {
  std::filesystem::create_directory(path_ + ".ovr");
  std::filesystem::create_directory(path_ + ".aux.xml");
  Dataset const dataset = open(path_);
  EXPECT_TRUE(dataset.info().overviews.empty());
  EXPECT_EQ(dataset.info().files.size(), 1u);
}

}  // namespace
}  // namespace terrazzo::reading
