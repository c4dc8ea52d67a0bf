// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/complete_crs.hpp"
#include "geo/encode.hpp"
#include "geo/key_files.hpp"
#include "geo/written_tags.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace terrazzo::geo {
namespace {

Georeference round_trip(Georeference const& given) {
  tiff::TagSet tags;
  tags.set_short(tiff::tag::ImageWidth, 100);
  EXPECT_EQ(encode_georeference(given, tags), "");
  return described(tags).georeference;
}

Georeference placed(std::array<double, 6> const& transform, bool point) {
  Georeference georeference;
  georeference.transform = transform;
  georeference.pixel_is_point = point;
  return georeference;
}

class EncodeTransform : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RasterTypes, EncodeTransform, ::testing::Bool(),
                         [](auto const& type) { return type.param ? "Point" : "Area"; });

TEST_P(EncodeTransform, UsesScaleAndTiepointNorthUp) {
  auto const given = placed({500000, 10, 0, 4500000, 0, -20}, GetParam());
  auto const read = round_trip(given);
  EXPECT_EQ(read.transform, given.transform);
  EXPECT_EQ(read.transform_source, TransformSource::pixel_scale);
  EXPECT_EQ(read.pixel_is_point, GetParam());
}

TEST_P(EncodeTransform, UsesAMatrixForAllOthers) {
  for (std::array<double, 6> const& transform :
       {std::array<double, 6>{1, 2, 0.5, 4, 0.25, -6}, {1, 2, 0, 4, 0, 6}, {0, 1, 0, 0, 0, 1}, {1, 0, 2, 4, 5, 0}}) {
    auto const given = placed(transform, GetParam());
    auto const read = round_trip(given);
    EXPECT_EQ(read.transform, given.transform);
    EXPECT_EQ(read.transform_source, TransformSource::matrix);
  }
}

// Half a pixel is added when writing and taken away when reading: rounding must not show.
TEST_P(EncodeTransform, KeepsEveryBitOfOddNumbers) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> place(-1e7, 1e7), size(1e-6, 1e3), turn(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    double const rotation = i % 2 == 0 ? 0 : turn(random);
    auto const given =
        placed({place(random), size(random), rotation, place(random), -rotation, -size(random)}, GetParam());
    ASSERT_EQ(round_trip(given).transform, given.transform);
  }
}

TEST(EncodeGeoreference, WritesNothingForNothing) {
  tiff::TagSet tags;
  EXPECT_EQ(encode_georeference({}, tags), "");
  EXPECT_TRUE(tags.values().empty());
}

TEST(EncodeGeoreference, RefusesATransformThatIsNotFinite) {
  for (double const bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    tiff::TagSet tags;
    auto const given = placed({0, 1, 0, bad, 0, -1}, false);
    EXPECT_EQ(kind_of_failure([&] { encode_georeference(given, tags); }), ErrorKind::usage);
  }
}

TEST(EncodeGeoreference, RefusesATransformThatMakesALineOfTheRaster) {
  std::array<double, 6> const lines[] = {
      {0, 0, 0, 0, 0, 0}, {5, 10, 0, 5, 0, 0}, {5, 1, 2, 5, 2, 4}, {5, 0, 0, 5, 0, -9}};
  for (auto const& transform : lines) {
    tiff::TagSet tags;
    EXPECT_EQ(kind_of_failure([&] { encode_georeference(placed(transform, false), tags); }), ErrorKind::usage);
  }
}

TEST(EncodeGeoreference, TakesPixelsAsSmallAsTheyCome) {
  std::array<double, 6> const small{0, 1e-200, 0, 0, 0, -1e-200};
  EXPECT_EQ(round_trip(placed(small, false)).transform, small);
}

TEST(EncodeGeoreference, KeepsGroundControlPoints) {
  for (bool const point : {false, true}) {
    Georeference given;
    given.pixel_is_point = point;
    for (int i = 0; i < 5; ++i) {
      given.gcps.push_back({std::to_string(i + 1), i * 10.25, i * 20.5, 1000.5 + i, 2000.5 - i, i * 3.0});
    }
    auto const read = round_trip(given);
    EXPECT_FALSE(read.transform);
    ASSERT_EQ(read.gcps.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(read.gcps[i].id, given.gcps[i].id);
      EXPECT_EQ(read.gcps[i].column, given.gcps[i].column);
      EXPECT_EQ(read.gcps[i].row, given.gcps[i].row);
      EXPECT_EQ(read.gcps[i].x, given.gcps[i].x);
      EXPECT_EQ(read.gcps[i].y, given.gcps[i].y);
      EXPECT_EQ(read.gcps[i].z, given.gcps[i].z);
    }
  }
}

TEST(EncodeGeoreference, RefusesMoreGroundControlPointsThanGdalReads) {
  Georeference given;
  given.gcps.resize(10922);
  tiff::TagSet tags;
  EXPECT_NO_THROW(encode_georeference(given, tags));
  given.gcps.resize(10923);
  EXPECT_EQ(kind_of_failure([&] { encode_georeference(given, tags); }), ErrorKind::limit);
}

TEST(EncodeGeoreference, WritesNoRasterTypeForAnImageWithoutCrs) {
  tiff::TagSet tags;
  encode_georeference(placed({0, 1, 0, 0, 0, -1}, false), tags);
  EXPECT_FALSE(tags.has(tiff::tag::GeoKeyDirectory));
}

TEST(EncodeGeoreference, StatesTheRasterTypeBesideACrs) {
  for (bool const point : {false, true}) {
    auto given = placed({0, 1, 0, 0, 0, -1}, point);
    given.crs = Crs{.epsg = 32631};
    auto const read = round_trip(given);
    EXPECT_TRUE(read.has_raster_type);
    EXPECT_EQ(read.pixel_is_point, point);
    EXPECT_EQ(read.crs->epsg, 32631);
  }
}

TEST(EncodeGeoreference, WritesTheRasterTypeAloneWhereNothingElseWasSaid) {
  for (std::uint16_t const type : {std::uint16_t{1}, std::uint16_t{2}}) {
    Info info;
    CrsDefinition const definition{.text = {}, .keys = KeyFile(0).code(key::GTRasterType, type).keys()};
    info.georeference.pixel_is_point = type == 2;
    info.georeference.crs = describe_crs(definition);
    if (!complete_crs(definition, info)) { GTEST_SKIP() << "PROJ or its database is not installed"; }
    tiff::TagSet tags;
    EXPECT_EQ(encode_georeference(info.georeference, tags), "");
    auto const keys = GeoKeys::read(written(tags)).keys.value();
    EXPECT_EQ(keys.size(), 1U);
    EXPECT_EQ(keys.code(key::GTRasterType), type);
  }
}

TEST(EncodeGeoreference, RefusesIncompleteRpcs) {
  Georeference given;
  given.rpc = {{"LINE_OFF", "1"}};
  tiff::TagSet tags;
  EXPECT_EQ(kind_of_failure([&] { encode_georeference(given, tags); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::geo
