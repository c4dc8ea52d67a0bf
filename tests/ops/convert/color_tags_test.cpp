// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/color_tags.hpp"

#include "support/raster.hpp"

#include "terrazzo/convert.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::Raster;
using testing::raster_builder;

constexpr std::uint16_t kProfile = 34675, kWhitePoint = 318, kTransferFunction = 301;
constexpr std::uint16_t kUndefined = 7, kRational = 5, kShort = 3;

std::vector<std::byte> profile() {
  std::vector<std::byte> bytes(700);
  for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::byte>(i * 7); }
  return bytes;
}

testing::TiffBuilder picture() { return raster_builder<std::uint8_t>(4, 3, std::vector<std::uint8_t>(36, 9), 3, 3); }

testing::TiffBuilder picture_with_profile() {
  auto builder = picture();
  builder.raw(kProfile, kUndefined, 700, profile());
  return builder;
}

std::vector<ExtraTag> tags_of(Raster const& raster, ReadRequest const& read = {}) {
  return color_tags(raster.dataset(), plan(raster.dataset(), read));
}

TEST(ColorTags, ProfileIsFoundAsItIs) {
  auto const tags = tags_of(Raster(picture_with_profile()));
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags[0].tag, kProfile);
  EXPECT_EQ(tags[0].type, kUndefined);
  EXPECT_EQ(tags[0].count, 700u);
  EXPECT_EQ(tags[0].bytes, profile());
}

TEST(ColorTags, NothingIsFoundWhereNothingIs) { EXPECT_TRUE(tags_of(Raster(picture())).empty()); }

TEST(ColorTags, ProfileStaysWithAPartAndGoesWithBandsAndTypes) {
  Raster const raster(picture_with_profile());
  EXPECT_EQ(tags_of(raster, {.window = Window{1, 1, 2, 2}}).size(), 1u);
  EXPECT_TRUE(tags_of(raster, {.bands = {{1, 2}}}).empty());
  EXPECT_TRUE(tags_of(raster, {.bands = {{3, 2, 1}}}).empty());
  EXPECT_TRUE(tags_of(raster, {.dtype = DType::u16}).empty());
}

TEST(ColorTags, ProfileHidesTheOlderTags) {
  auto builder = picture_with_profile();
  builder.raw(kWhitePoint, kRational, 2, testing::as_bytes(std::vector<std::uint32_t>{3127, 10000, 329, 1000}));
  EXPECT_EQ(tags_of(Raster(builder)).size(), 1u);
}

TEST(ColorTags, OlderTagsOfBigEndianFilesAreTurned) {
  testing::TiffBuilder builder(std::endian::big);
  auto const pixels = static_cast<std::uint32_t>(builder.data(std::vector<std::byte>(4)));
  builder.longs(256, {2}).longs(257, {2}).shorts(258, {8}).shorts(259, {1}).shorts(262, {1});
  builder.longs(273, {pixels}).shorts(277, {1}).longs(278, {2}).longs(279, {4});
  builder.shorts(kTransferFunction, std::vector<std::uint16_t>(256, 0x0102));
  std::vector<std::byte> white;
  for (unsigned const byte : {0U, 0U, 0U, 1U, 0U, 0U, 0U, 2U, 0U, 0U, 0U, 3U, 0U, 0U, 0U, 4U}) {
    white.push_back(static_cast<std::byte>(byte));
  }
  builder.raw(kWhitePoint, kRational, 2, white);
  auto const tags = tags_of(Raster(builder));
  ASSERT_EQ(tags.size(), 2u);
  EXPECT_EQ(tags[0].tag, kTransferFunction);
  EXPECT_EQ(tags[0].type, kShort);
  EXPECT_EQ(tags[0].bytes, testing::as_bytes(std::vector<std::uint16_t>(256, 0x0102)));
  EXPECT_EQ(tags[1].bytes, testing::as_bytes(std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(ColorTags, ProfileThatLiesOutsideTheFileIsLeftOut) {
  std::vector<std::byte> bytes = picture_with_profile().bytes();
  bytes.resize(bytes.size() - 1);
  // The profile is the last value of the directory, which is the last thing of the file.
  Dataset const cut = open_memory(bytes);
  EXPECT_TRUE(color_tags(cut, plan(cut)).empty());
}

TEST(ColorTags, ConvertedFileHasTheProfile) {
  Raster const source(picture_with_profile());
  std::vector<std::byte> bytes;
  convert(source.dataset(), memory_sink(bytes), conversion_options(source.dataset()));
  Dataset const result = open_memory(bytes);
  auto const tags = color_tags(result, plan(result));
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags[0].bytes, profile());
}

}  // namespace
}  // namespace terrazzo::ops
