// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/projection.hpp"

#include "geo/key_files.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace terrazzo::geo {
namespace {

TEST(Projection, WritesMethodAndParameters) {
  auto const keys = KeyFile()
                        .code(key::ProjMethod, 1)
                        .number(key::ProjNatOriginLat, 1.5)
                        .number(key::ProjNatOriginLong, -33)
                        .number(key::ProjScaleAtNatOrigin, 0.9996)
                        .number(key::ProjFalseEasting, 500000)
                        .keys();
  auto const wkt = projection_wkt(keys);
  ASSERT_TRUE(wkt);
  EXPECT_EQ(
      wkt->projection,
      "PROJECTION[\"Transverse_Mercator\"],PARAMETER[\"latitude_of_origin\",1.5],PARAMETER[\"central_meridian\",-33],"
      "PARAMETER[\"scale_factor\",0.9996],PARAMETER[\"false_easting\",5e+05],PARAMETER[\"false_northing\",0]");
  EXPECT_EQ(wkt->axes, "AXIS[\"Easting\",EAST],AXIS[\"Northing\",NORTH]");
}

TEST(Projection, LooksForTheOriginUnderItsOtherNames) {
  auto const wkt = projection_wkt(KeyFile()
                                      .code(key::ProjMethod, 10)
                                      .number(key::ProjCenterLat, 52)
                                      .number(key::ProjCenterLong, 10)
                                      .number(key::ProjFalseOriginEasting, 4)
                                      .number(key::ProjCenterNorthing, 3)
                                      .keys());
  EXPECT_EQ(wkt->projection,
            "PROJECTION[\"Lambert_Azimuthal_Equal_Area\"],PARAMETER[\"latitude_of_center\",52],"
            "PARAMETER[\"longitude_of_center\",10],PARAMETER[\"false_easting\",4],PARAMETER[\"false_northing\",3]");
}

TEST(Projection, ChoosesTheMercatorByItsParallel) {
  auto const one = projection_wkt(KeyFile().code(key::ProjMethod, 7).keys());
  EXPECT_TRUE(one->projection.starts_with("PROJECTION[\"Mercator_1SP\"],PARAMETER[\"central_meridian\",0]"));
  auto const two = projection_wkt(KeyFile().code(key::ProjMethod, 7).number(key::ProjStdParallel1, 20).keys());
  EXPECT_TRUE(two->projection.starts_with("PROJECTION[\"Mercator_2SP\"],PARAMETER[\"standard_parallel_1\",20]"));
}

TEST(Projection, PointsAwayFromThePole) {
  KeyFile north;
  north.code(key::ProjMethod, 15).number(key::ProjNatOriginLat, 90).number(key::ProjStraightVertPoleLong, 12);
  auto const wkt = projection_wkt(north.keys());
  EXPECT_EQ(wkt->axes, "AXIS[\"Easting\",SOUTH],AXIS[\"Northing\",SOUTH]");
  EXPECT_NE(wkt->projection.find("PARAMETER[\"central_meridian\",12]"), std::string::npos);
  auto const south = projection_wkt(KeyFile().code(key::ProjMethod, 15).number(key::ProjNatOriginLat, -71).keys());
  EXPECT_EQ(south->axes, "AXIS[\"Easting\",NORTH],AXIS[\"Northing\",NORTH]");
}

TEST(Projection, HasADefaultForWhatIsMissingOrNotFinite) {
  auto const wkt = projection_wkt(KeyFile()
                                      .code(key::ProjMethod, 9815)
                                      .number(key::ProjCenterLat, std::numeric_limits<double>::quiet_NaN())
                                      .number(key::ProjAzimuthAngle, std::numeric_limits<double>::infinity())
                                      .keys());
  EXPECT_NE(wkt->projection.find("PARAMETER[\"latitude_of_center\",0]"), std::string::npos);
  EXPECT_NE(wkt->projection.find("PARAMETER[\"azimuth\",0]"), std::string::npos);
  EXPECT_NE(wkt->projection.find("PARAMETER[\"rectified_grid_angle\",90]"), std::string::npos);
  EXPECT_NE(wkt->projection.find("PARAMETER[\"scale_factor\",1]"), std::string::npos);
}

TEST(Projection, IsUnknownForMethodsNobodyImplements) {
  EXPECT_FALSE(projection_wkt(KeyFile().code(key::ProjMethod, 2).keys()));
  EXPECT_FALSE(projection_wkt(KeyFile().code(key::ProjMethod, 32767).keys()));
  EXPECT_FALSE(projection_wkt(KeyFile().code(key::GTModelType, 1).keys()));
}

// What is read from keys is written under keys from which the same is read.
TEST(Projection, KeysAndWktAreInversesForEveryMethod) {
  int methods = 0;
  for (int code = 0; code < 10000; ++code) {
    KeyFile file;
    file.code(key::ProjMethod, static_cast<std::uint16_t>(code));
    double value = 1;
    for (std::uint16_t const key :
         {key::ProjStdParallel2, key::ProjNatOriginLong, key::ProjNatOriginLat, key::ProjFalseEasting,
          key::ProjFalseNorthing, key::ProjScaleAtNatOrigin, key::ProjAzimuthAngle, key::ProjRectifiedGridAngle}) {
      file.number(key, value += 1.25);
    }
    if (code != 7) { file.number(key::ProjStdParallel1, 30.5); }  // it would make a Mercator of the other variant
    auto const read = projection_wkt(file.keys());
    if (!read) { continue; }
    ++methods;
    GeoKeys keys;
    ASSERT_TRUE(projection_keys(*parse_wkt("PROJCS[\"x\"," + read->projection + "]"), keys)) << code;
    EXPECT_EQ(projection_wkt(keys)->projection, read->projection);
    EXPECT_EQ(keys.code(key::ProjMethod), code);
  }
  EXPECT_EQ(methods, 26);
}

TEST(Projection, WritesAMercatorWithAStandardParallel) {
  GeoKeys keys;
  auto const wkt = parse_wkt(R"(PROJCS["x",PROJECTION["Mercator_2SP"],PARAMETER["standard_parallel_1",41],)"
                             R"(PARAMETER["central_meridian",51],PARAMETER["false_easting",0]])");
  ASSERT_TRUE(projection_keys(*wkt, keys));
  EXPECT_EQ(keys.code(key::ProjMethod), 7);
  EXPECT_EQ(keys.number(key::ProjStdParallel1), 41);
  EXPECT_EQ(keys.number(key::ProjNatOriginLong), 51);
}

TEST(Projection, HasNoKeysForWhatGeoTiffDoesNotKnow) {
  for (auto const* wkt : {R"(PROJCS["x",PROJECTION["Mollweide"],PARAMETER["central_meridian",0]])", R"(PROJCS["x"])",
                          R"(PROJCS["x",PROJECTION["Sinusoidal"],PARAMETER["azimuth",0]])",
                          R"(PROJCS["x",PROJECTION["Sinusoidal"],PARAMETER["false_easting",EAST]])"}) {
    GeoKeys keys;
    EXPECT_FALSE(projection_keys(*parse_wkt(wkt), keys)) << wkt;
  }
}

}  // namespace
}  // namespace terrazzo::geo
