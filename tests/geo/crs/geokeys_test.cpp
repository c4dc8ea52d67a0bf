// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/geokeys.hpp"

#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

using testing::TiffBuilder;
namespace tag = tiff::tag;

TEST(GeoKeys, ReadsCodesNumbersAndTexts) {
  TiffBuilder tiff(std::endian::big, true);
  tiff.shorts(tag::GeoKeyDirectory,
              {1, 1, 1, 4, 1024, 0, 1, 2, 1026, 34737, 6, 0, 2062, 34736, 3, 1, 2049, 34737, 4, 6})
      .doubles(tag::GeoDoubleParams, {9, 1.5, 2.5, 3.5})
      .ascii(tag::GeoAsciiParams, "first|next|");
  auto const [keys, broken] = GeoKeys::read(tiff.directory());
  ASSERT_TRUE(keys);
  EXPECT_FALSE(broken);
  EXPECT_EQ(keys->size(), 4U);
  EXPECT_FALSE(keys->is_revision_1_0());
  EXPECT_EQ(keys->code(key::GTModelType), 2);
  EXPECT_EQ(*keys->text(key::GTCitation), "first");
  EXPECT_EQ(*keys->text(key::GeodeticCitation), "next");
  EXPECT_EQ(keys->numbers(key::GeogTOWGS84), (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(keys->number(key::GeogTOWGS84), 1.5);
}

TEST(GeoKeys, AnswersNothingForAnAbsentKeyOrAnotherType) {
  TiffBuilder tiff;
  tiff.shorts(tag::GeoKeyDirectory, {1, 1, 0, 1, 1024, 0, 1, 2});
  auto const keys = GeoKeys::read(tiff.directory()).keys;
  ASSERT_TRUE(keys);
  EXPECT_TRUE(keys->is_revision_1_0());
  EXPECT_FALSE(keys->number(key::GTModelType));
  EXPECT_EQ(keys->text(key::GTModelType), nullptr);
  EXPECT_FALSE(keys->code(key::GTRasterType));
  EXPECT_FALSE(keys->has(key::GTRasterType));
}

TEST(GeoKeys, TakesTheLastOfARepeatedKey) {
  TiffBuilder tiff;
  tiff.shorts(tag::GeoKeyDirectory, {1, 1, 0, 2, 1024, 0, 1, 2, 1024, 0, 1, 1});
  EXPECT_EQ(GeoKeys::read(tiff.directory()).keys->code(key::GTModelType), 1);
}

TEST(GeoKeys, ReadsCodesStoredInTheDirectoryItself) {
  TiffBuilder tiff;
  tiff.shorts(tag::GeoKeyDirectory, {1, 1, 0, 1, 3072, 34735, 2, 8, 32631, 7});
  EXPECT_EQ(GeoKeys::read(tiff.directory()).keys->code(key::ProjectedCRS), 32631);
}

TEST(GeoKeys, CutsTextAtTheEndOfItsTag) {
  TiffBuilder tiff;
  tiff.shorts(tag::GeoKeyDirectory, {1, 1, 0, 1, 1026, 34737, 40, 2}).ascii(tag::GeoAsciiParams, "abcdef");
  EXPECT_EQ(*GeoKeys::read(tiff.directory()).keys->text(key::GTCitation), "cdef");
}

TEST(GeoKeys, AreAbsentWithoutTheTagOrWithoutKeys) {
  auto const none = GeoKeys::read(TiffBuilder().shorts(tag::ImageWidth, {1}).directory());
  EXPECT_FALSE(none.keys);
  EXPECT_FALSE(none.broken);
  EXPECT_FALSE(GeoKeys::read(TiffBuilder().shorts(tag::GeoKeyDirectory, {1, 1, 0, 0}).directory()).keys);
}

TEST(GeoKeys, AreRefusedWholeWhenOneContradictsTheTags) {
  std::vector<std::vector<std::uint16_t>> const directories = {
      {2, 1, 0, 1, 1024, 0, 1, 2},                           // a version nobody knows
      {1, 1, 0, 2, 1024, 0, 1, 2},                           // fewer entries than stated
      {1, 1, 0, 65535, 1024, 0, 1, 2},                       // absurd number of keys
      {1, 1, 0, 1, 1024, 0, 2, 2},                           // two values in an entry
      {1, 1, 0, 1, 2057, 34736, 1, 1},                       // past the doubles
      {1, 1, 0, 1, 2057, 34736, 65535, 65535},               // far past the doubles
      {1, 1, 0, 1, 3072, 34735, 9, 0},                       // past the shorts
      {1, 1, 0, 1, 1026, 34737, 4, 100},                     // past the text
      {1, 1, 0, 1, 1026, 34999, 1, 0},                       // in a tag that holds no keys
  };
  for (auto const& shorts : directories) {
    TiffBuilder tiff;
    tiff.shorts(tag::GeoKeyDirectory, shorts).doubles(tag::GeoDoubleParams, {1}).ascii(tag::GeoAsciiParams, "abc|");
    auto const result = GeoKeys::read(tiff.directory());
    EXPECT_FALSE(result.keys) << ::testing::PrintToString(shorts);
    EXPECT_TRUE(result.broken) << ::testing::PrintToString(shorts);
  }
}

TEST(GeoKeys, AreRefusedWhenTheTextTagIsMissing) {
  auto const result =
      GeoKeys::read(TiffBuilder().shorts(tag::GeoKeyDirectory, {1, 1, 0, 1, 1026, 34737, 0, 0}).directory());
  EXPECT_TRUE(result.broken);
}

}  // namespace
}  // namespace terrazzo::geo
