// SPDX-License-Identifier: Apache-2.0
#include "write/update/tag_edit.hpp"

#include "support/failure.hpp"
#include "support/tiff_builder.hpp"

#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;
using testing::TiffBuilder;

std::optional<ErrorKind> kind_of(TiffBuilder const& builder) {
  return testing::kind_of_failure([&] { return tags_of(builder.directory()); });
}

std::string text_of(tiff::TagSet const& tags, std::uint16_t number) {
  tiff::TagValue const* const value = tags.find(number);
  if (value == nullptr) { return {}; }
  return {reinterpret_cast<char const*>(value->bytes.data()), value->bytes.size() - 1};
}

TEST(TagsOf, HaveAllValuesShortAndLong) {
  TiffBuilder builder;
  builder.shorts(256, {5}).ascii(305, "a text of some length").doubles(33550, {1, 2, 0});
  tiff::TagSet const tags = tags_of(builder.directory());
  ASSERT_EQ(tags.values().size(), 3U);
  EXPECT_EQ(text_of(tags, 305), "a text of some length");
  EXPECT_EQ(tags.find(256)->type, tiff::FieldType::short_);
  EXPECT_EQ(tags.find(256)->bytes.size(), 2U);
  EXPECT_EQ(tags.find(33550)->count, 3U);
}

TEST(TagsOf, TakeTheFirstOfARepeatedTagAndLeaveEmptyOnesOut) {
  TiffBuilder builder;
  builder.shorts(256, {5}).raw(300, 3, 0, {}).ascii(305, "the first one").ascii(305, "another one");
  tiff::TagSet const tags = tags_of(builder.directory());
  EXPECT_EQ(text_of(tags, 305), "the first one");
  EXPECT_FALSE(tags.has(300));
}

TEST(TagsOf, RefuseWhatCannotBeCopied) {
  EXPECT_EQ(kind_of(TiffBuilder().shorts(256, {5}).raw(300, 99, 1, {std::byte{1}})), ErrorKind::unsupported);
  // 1000 values are announced, and the file is too short for them.
  EXPECT_EQ(kind_of(TiffBuilder().shorts(256, {5}).raw(300, 4, 1000, {4, std::byte{1}})), ErrorKind::malformed);
}

TEST(TagsOf, AreTheSameWhateverTheByteOrder) {
  auto const made = [](std::endian order) {
    return tags_of(TiffBuilder(order)
                       .shorts(256, {5, 6, 7})
                       .longs(257, {0x01020304})
                       .doubles(33550, {0.5, 2})
                       .ascii(305, "text")
                       .directory());
  };
  tiff::TagSet const little = made(std::endian::little), big = made(std::endian::big);
  ASSERT_EQ(little.values().size(), 4U);
  for (auto const& [number, value] : little.values()) {
    ASSERT_TRUE(big.has(number));
    EXPECT_EQ(big.find(number)->bytes, value.bytes) << number;
  }
}

TEST(HasPointers, KnowsTagsAndTypesThatPoint) {
  EXPECT_FALSE(has_pointers(TiffBuilder().shorts(256, {5}).directory()));
  EXPECT_TRUE(has_pointers(TiffBuilder().longs(tag::SubIFDs, {8}).directory()));
  EXPECT_TRUE(has_pointers(TiffBuilder().longs(34665, {8}).directory()));
  EXPECT_TRUE(has_pointers(TiffBuilder().raw(60000, 13, 1, {4, std::byte{1}}).directory()));
}

TEST(ReplaceNodata, SetsAndRemoves) {
  tiff::TagSet tags;
  replace_nodata(make_nodata("-9999", DType::i16), tags);
  EXPECT_EQ(text_of(tags, tag::GDALNodata), "-9999");
  replace_nodata(std::nullopt, tags);
  EXPECT_FALSE(tags.has(tag::GDALNodata));
}

TEST(ReplaceTransform, LeavesTheCrsAlone) {
  tiff::TagSet tags;
  Georeference place;
  place.crs = Crs{.epsg = 32633};
  place.transform = {0, 1, 0, 0, 0, -1};
  replace_crs(place, tags);
  tiff::TagValue const keys = *tags.find(tag::GeoKeyDirectory);
  EXPECT_FALSE(tags.has(tag::ModelPixelScale));
  replace_transform(place, tags);
  EXPECT_TRUE(tags.has(tag::ModelPixelScale));
  place.transform = {0, 1, 0.5, 0, 0.5, -1};  // rotated: a matrix, and the old tags go
  replace_transform(place, tags);
  EXPECT_TRUE(tags.has(tag::ModelTransformation));
  EXPECT_FALSE(tags.has(tag::ModelPixelScale));
  EXPECT_FALSE(tags.has(tag::ModelTiepoint));
  EXPECT_EQ(tags.find(tag::GeoKeyDirectory)->bytes, keys.bytes);
  place.transform.reset();
  replace_transform(place, tags);
  EXPECT_FALSE(tags.has(tag::ModelTransformation));
}

std::vector<std::uint16_t> keys_of(tiff::TagSet const& tags) {
  tiff::TagValue const* const value = tags.find(tag::GeoKeyDirectory);
  std::vector<std::uint16_t> keys(value == nullptr ? 0 : value->count);
  if (value != nullptr) { std::memcpy(keys.data(), value->bytes.data(), value->bytes.size()); }
  return keys;
}

using Keys = std::vector<std::uint16_t>;

TEST(ReplaceRasterType, ChangesTheKeyAndNoOther) {
  Georeference place;
  place.pixel_is_point = true;
  tiff::TagSet tags;
  tags.set_shorts(tag::GeoKeyDirectory, Keys{1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 1});
  replace_raster_type(place, tags);
  EXPECT_EQ(keys_of(tags), (Keys{1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 2}));
  place.pixel_is_point = false;
  replace_raster_type(place, tags);
  EXPECT_EQ(keys_of(tags), (Keys{1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 1}));
}

TEST(ReplaceRasterType, AddsTheKeyWhereItBelongs) {
  Georeference place;
  place.pixel_is_point = true;
  for (auto const& [before, after] :
       {std::pair{Keys{1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 9},
                  Keys{1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1, 9}},
        std::pair{Keys{1, 1, 0, 0}, Keys{1, 1, 0, 1, 1025, 0, 1, 2}},
        std::pair{Keys{1, 1, 0, 1, 1024, 0, 1, 1}, Keys{1, 1, 0, 2, 1024, 0, 1, 1, 1025, 0, 1, 2}},
        // Not sorted, as the standard has it; with one more number than is counted.
        std::pair{Keys{1, 1, 0, 2, 3072, 0, 1, 9, 1025, 0, 1, 1, 7},
                  Keys{1, 1, 0, 2, 3072, 0, 1, 9, 1025, 0, 1, 2, 7}}}) {
    tiff::TagSet tags;
    tags.set_shorts(tag::GeoKeyDirectory, before);
    replace_raster_type(place, tags);
    EXPECT_EQ(keys_of(tags), after);
  }
  tiff::TagSet none;
  replace_raster_type(place, none);
  EXPECT_EQ(keys_of(none), (Keys{1, 1, 0, 1, 1025, 0, 1, 2}));
  place.pixel_is_point = false;
  tiff::TagSet area;
  replace_raster_type(place, area);
  EXPECT_TRUE(area.values().empty()) << "pixels are areas when nobody says so";
}

TEST(ReplaceRasterType, RefusesKeysThatAreNone) {
  for (Keys const& broken : {Keys{1, 1, 0}, Keys{1, 1, 0, 2, 1024, 0, 1, 1}, Keys{1, 1, 0, 65535}}) {
    tiff::TagSet tags;
    tags.set_shorts(tag::GeoKeyDirectory, broken);
    EXPECT_THROW(replace_raster_type({}, tags), Error);
  }
}

TEST(ReplaceMetadata, TouchesOnlyWhatMetadataSays) {
  tiff::TagSet tags;
  tags.set_text(tag::Software, "before");
  tags.set_text(60001, "nobody knows this tag");
  Info before, after;
  before.bands.resize(1);
  before.metadata.domains[""] = {{"TIFFTAG_SOFTWARE", "before"}, {"A", "b"}};
  after = before;
  after.metadata.domains[""] = {{"A", "c"}};
  replace_metadata(before, after, tags);
  EXPECT_FALSE(tags.has(tag::Software));
  EXPECT_EQ(text_of(tags, 60001), "nobody knows this tag");
  EXPECT_NE(text_of(tags, tag::GDALMetadata).find("<Item name=\"A\">c</Item>"), std::string::npos);
  after.metadata = {};
  replace_metadata(before, after, tags);
  EXPECT_FALSE(tags.has(tag::GDALMetadata));
}

}  // namespace
}  // namespace terrazzo::writing
