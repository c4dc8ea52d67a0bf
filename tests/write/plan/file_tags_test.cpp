// SPDX-License-Identifier: Apache-2.0
#include "write/plan/file_tags.hpp"

#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;

WriteOptions of(DType dtype, std::uint32_t bands = 1) {
  WriteOptions options;
  options.dtype = dtype;
  options.bands = bands;
  options.tile_size = {64, 32};
  return options;
}

std::vector<std::uint32_t> numbers(tiff::TagSet const& tags, std::uint16_t number) {
  tiff::TagValue const* const value = tags.find(number);
  std::vector<std::uint32_t> result;
  if (value == nullptr) { return result; }
  std::size_t const unit = value->bytes.size() / value->count;
  for (std::size_t i = 0; i < value->count; ++i) {
    std::uint32_t one = 0;
    std::memcpy(&one, value->bytes.data() + i * unit, std::min<std::size_t>(unit, 4));
    result.push_back(one);
  }
  return result;
}

std::string text_of(tiff::TagSet const& tags, std::uint16_t number) {
  tiff::TagValue const* const value = tags.find(number);
  return value == nullptr ? ""
                          : std::string(reinterpret_cast<char const*>(value->bytes.data()), value->bytes.size() - 1);
}

using Numbers = std::vector<std::uint32_t>;

TEST(FileTags, DescribeSamplesAndBlocksOfEveryLevel) {
  WriteOptions options = of(DType::f32, 3);
  options.overview_factors = {{2}};
  options.nodata = make_nodata("-1", DType::f32);
  options.metadata.domains[""] = {{"KEY", "value"}};
  FilePlan const plan = plan_file(100, 50, options);
  FileTags const tags(plan);
  BlockPlaces places(4);
  places.offsets_bytes = {1000, 2000, 0, 4000};
  places.sizes_bytes = {10, 20, 0, 40};
  tiff::TagSet const raster = tags.image(0, places, {});
  EXPECT_EQ(numbers(raster, tag::ImageWidth), Numbers{100});
  EXPECT_EQ(numbers(raster, tag::ImageLength), Numbers{50});
  EXPECT_EQ(numbers(raster, tag::BitsPerSample), (Numbers{32, 32, 32}));
  EXPECT_EQ(numbers(raster, tag::SampleFormat), (Numbers{3, 3, 3}));
  EXPECT_EQ(numbers(raster, tag::Compression), Numbers{50000});
  EXPECT_EQ(numbers(raster, tag::Predictor), Numbers{3});
  EXPECT_EQ(numbers(raster, tag::PlanarConfiguration), Numbers{1});
  EXPECT_EQ(numbers(raster, tag::ExtraSamples), (Numbers{0, 0}));
  EXPECT_EQ(numbers(raster, tag::TileWidth), Numbers{64});
  EXPECT_EQ(numbers(raster, tag::TileLength), Numbers{32});
  EXPECT_EQ(numbers(raster, tag::TileOffsets), (Numbers{1000, 2000, 0, 4000}));
  EXPECT_EQ(numbers(raster, tag::TileByteCounts), (Numbers{10, 20, 0, 40}));
  EXPECT_FALSE(raster.has(tag::NewSubfileType));
  EXPECT_NE(text_of(raster, tag::GDALMetadata).find("value"), std::string::npos);

  tiff::TagSet const overview = tags.image(1, BlockPlaces(1), {});
  EXPECT_EQ(numbers(overview, tag::NewSubfileType), Numbers{1});
  EXPECT_EQ(numbers(overview, tag::ImageWidth), Numbers{50});
  EXPECT_EQ(numbers(overview, tag::BitsPerSample), (Numbers{32, 32, 32}));
  EXPECT_TRUE(overview.has(tag::GDALNodata));
  EXPECT_FALSE(overview.has(tag::GDALMetadata));
}

TEST(FileTags, DescribeStripsAndPlanes) {
  WriteOptions options = of(DType::u8, 2);
  options.strip_rows = 7;
  options.planar = PlanarLayout::separate;
  FilePlan const plan = plan_file(100, 50, options);
  tiff::TagSet const tags = FileTags(plan).image(0, BlockPlaces(16), {});
  EXPECT_EQ(numbers(tags, tag::RowsPerStrip), Numbers{7});
  EXPECT_EQ(numbers(tags, tag::StripOffsets).size(), 16U);
  EXPECT_EQ(numbers(tags, tag::PlanarConfiguration), Numbers{2});
  EXPECT_FALSE(tags.has(tag::TileWidth));
}

TEST(FileTags, DescribeMasks) {
  WriteOptions options = of(DType::u16);
  options.mask = true;
  options.overview_factors = {{2}};
  FilePlan const plan = plan_file(100, 50, options);
  FileTags const tags(plan);
  for (std::size_t const level : {std::size_t{0}, std::size_t{1}}) {
    tiff::TagSet const mask = tags.mask(level, BlockPlaces(plan.levels[level].blocks_per_plane()));
    EXPECT_EQ(numbers(mask, tag::NewSubfileType), Numbers{level == 0 ? 4U : 5U});
    EXPECT_EQ(numbers(mask, tag::BitsPerSample), Numbers{1});
    EXPECT_EQ(numbers(mask, tag::PhotometricInterpretation), Numbers{4});
    EXPECT_EQ(numbers(mask, tag::ImageWidth), Numbers{level == 0 ? 100U : 50U});
  }
}

TEST(FileTags, SayWhatCodecsNeed) {
  WriteOptions options = of(DType::u8, 3);
  options.compression = Compression::jpeg;
  options.chroma = ChromaSubsampling::s422;
  FilePlan const jpeg = plan_file(100, 50, options);
  tiff::TagSet const tags = FileTags(jpeg).image(0, BlockPlaces(4), {});
  EXPECT_TRUE(tags.has(tag::JPEGTables));
  EXPECT_EQ(numbers(tags, tag::PhotometricInterpretation), Numbers{6});
  EXPECT_EQ(numbers(tags, tag::YCbCrSubSampling), (Numbers{2, 1}));
  options = of(DType::f32);
  options.compression = Compression::lerc_zstd;
  FilePlan const lerc = plan_file(100, 50, options);
  EXPECT_EQ(numbers(FileTags(lerc).image(0, BlockPlaces(4), {}), tag::LercParameters), (Numbers{4, 2}));
}

// Colours that the photometric interpretation says are not said again.
TEST(FileTags, LeaveColoursToTheTagsThatSayThem) {
  WriteOptions options = of(DType::u16, 4);
  options.band_info.resize(4);
  using enum ColorInterpretation;
  for (std::size_t i = 0; auto const color : {red, green, blue, alpha}) { options.band_info[i++].color = color; }
  FilePlan const plan = plan_file(10, 10, options);
  tiff::TagSet const tags = FileTags(plan).image(0, BlockPlaces(1), {});
  EXPECT_EQ(numbers(tags, tag::ExtraSamples), Numbers{2});
  EXPECT_FALSE(tags.has(tag::GDALMetadata)) << text_of(tags, tag::GDALMetadata);
}

TEST(FileTags, TakeTheSameRoomWithAnyStatistics) {
  for (bool const described : {false, true}) {
    WriteOptions options = of(DType::f64, 2);
    options.statistics = true;
    if (described) {
      options.band_info.resize(2);
      options.band_info[1].metadata.domains[""] = {{"STATISTICS_MEAN", std::string(300, '7')}, {"A", "B"}};
      options.metadata.domains[""] = {{"UTF8", "Höhe"}};
    }
    FilePlan const plan = plan_file(100, 50, options);
    FileTags const tags(plan);
    BlockPlaces const places(4);
    std::uint64_t const reserved = tiff::directory_bytes(tags.image(0, places, {}), false);
    double const largest = std::numeric_limits<double>::max();
    for (double const value : {0.0, -1.0, 1.0 / 3, -largest, largest, std::numeric_limits<double>::infinity(), 5e-324,
                               -2.2250738585072014e-308, std::nan("")}) {
      for (std::uint64_t const count : {0U, 1U, 5000U}) {
        Moments one;
        one.count = count;
        one.minimum = one.maximum = one.mean = value;
        one.m2 = std::abs(value);
        std::vector<Moments> const moments{one, one};
        tiff::TagSet const with = tags.image(0, places, moments);
        EXPECT_EQ(tiff::directory_bytes(with, false), reserved) << value << ' ' << count;
        std::string const xml = text_of(with, tag::GDALMetadata);
        EXPECT_EQ(xml.find("STATISTICS_MEAN") != std::string::npos, count > 0 && !std::isnan(value));
        EXPECT_EQ(xml.find("7777"), std::string::npos);
        if (described) { EXPECT_NE(xml.find("</GDALMetadata>"), std::string::npos); }
      }
    }
  }
}

TEST(FileTags, CarryExtraTagsInTheFirstDirectoryOnly) {
  WriteOptions options = of(DType::u8);
  options.overview_factors = {{2}};
  std::vector<std::byte> const bytes(16, std::byte{9});
  options.extra_tags = {{65000, 12, 2, bytes}, {50839, 1, 16, bytes}};
  FilePlan const plan = plan_file(100, 50, options);
  FileTags const tags(plan);
  tiff::TagSet const raster = tags.image(0, BlockPlaces(4), {});
  ASSERT_TRUE(raster.has(65000));
  EXPECT_EQ(raster.find(65000)->type, tiff::FieldType::double_);
  EXPECT_EQ(raster.find(65000)->count, 2U);
  EXPECT_EQ(raster.find(65000)->bytes, bytes);
  EXPECT_TRUE(raster.has(50839));
  EXPECT_FALSE(tags.image(1, BlockPlaces(1), {}).has(65000));
}

TEST(FileTags, RefuseExtraTagsThatTheWriterSets) {
  for (int const tag_number : {254, 256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284,   317,
                               320, 322, 323, 324, 325, 330, 338, 339, 347, 530, 532, 50674, 42113}) {
    auto const number = static_cast<std::uint16_t>(tag_number);
    WriteOptions options = of(DType::u8);
    options.nodata = make_nodata("3", DType::u8);
    options.extra_tags = {{number, 3, 1, std::vector<std::byte>(2)}};
    FilePlan const plan = plan_file(100, 50, options);
    try {
      FileTags const tags(plan);
      ADD_FAILURE() << number;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.where().tag, number);
    }
  }
}

TEST(FileTags, FollowAPlanThatMoved) {
  WriteOptions options = of(DType::u16, 2);
  options.mask = true;
  options.metadata.domains[""] = {{"KEY", "value"}};
  auto first = std::make_unique<FilePlan>(plan_file(100, 50, options));
  FileTags made(*first);
  FilePlan const plan = std::move(*first);
  first.reset();
  FileTags const tags(std::move(made), plan);
  BlockPlaces const places(4);
  EXPECT_EQ(numbers(tags.image(0, places, {}), tag::ImageWidth), Numbers{100});
  EXPECT_EQ(text_of(tags.image(0, places, {}), tag::GDALMetadata),
            text_of(FileTags(plan).image(0, places, {}), tag::GDALMetadata));
  EXPECT_EQ(numbers(tags.mask(0, places), tag::ImageLength), Numbers{50});
}

}  // namespace
}  // namespace terrazzo::writing
