// SPDX-License-Identifier: Apache-2.0
//
// Needs PROJ and its database; skipped where they are not installed.
#include "geo/crs/geokeys_from_crs.hpp"

#include "geo/crs/crs_from_geokeys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

class CrsKeys : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    if (!ProjSession().has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
};

TEST_F(CrsKeys, AreReadAsTheCrsTheyWereMadeFrom) {
  ProjSession const proj;
  for (std::string const definition :
       {"+proj=tmerc +lat_0=10 +lon_0=20.5 +k=0.9997 +x_0=100000 +y_0=-200000 +ellps=GRS80 +units=m",
        "+proj=lcc +lat_1=33 +lat_2=45 +lat_0=39 +lon_0=-96 +x_0=5 +y_0=6 +datum=NAD83",
        "+proj=lcc +lat_1=46.5 +lat_0=46.5 +lon_0=3 +k_0=0.999 +x_0=600000 +y_0=2200000 +ellps=clrk80",
        "+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=laea +lat_0=5 +lon_0=20 +x_0=0 +y_0=0 +R=6371228",
        "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-46 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=stere +lat_0=90 +lon_0=10 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84",
        "+proj=stere +lat_0=40 +lon_0=10 +k=1 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=sterea +lat_0=52.1 +lon_0=5.4 +k=0.9999 +x_0=155000 +y_0=463000 +ellps=bessel",
        "+proj=merc +lon_0=100 +k=0.99 +x_0=5 +y_0=6 +datum=WGS84",
        "+proj=merc +lat_ts=41 +lon_0=51 +x_0=0 +y_0=0 +ellps=krass",
        "+proj=omerc +lat_0=4 +lonc=115 +alpha=53.3158 +gamma=53.1301 +k=0.99984 +x_0=590476 +y_0=442857 "
        "+ellps=evrst48",
        "+proj=aeqd +lat_0=37 +lon_0=-120 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=eqc +lat_ts=30 +lat_0=0 +lon_0=10 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=cass +lat_0=10.44 +lon_0=-61.33 +x_0=86501 +y_0=65379 +ellps=clrk80",
        "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m",
        "+proj=poly +lat_0=0 +lon_0=-54 +x_0=5000000 +y_0=10000000 +ellps=GRS80",
        "+proj=robin +lon_0=20 +x_0=1 +y_0=2 +datum=WGS84",
        "+proj=cea +lat_ts=30 +lon_0=1 +x_0=0 +y_0=0 +datum=WGS84",
        "+proj=tmerc +lat_0=0 +lon_0=9 +k=1 +x_0=500000 +y_0=0 +ellps=bessel +units=us-ft",
        "+proj=tmerc +lat_0=0 +lon_0=9 +k=1 +x_0=500000 +y_0=0 +ellps=bessel +to_meter=123.25",
        "+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996 +x_0=400000 +y_0=-100000 +ellps=airy "
        "+towgs84=446,-125,542,0.1,0.2,0.8,-20",
        "+proj=longlat +ellps=bessel",
        "+proj=longlat +R=3396190",
        "+proj=longlat +a=6378137 +rf=300 +pm=10.5",
        "+proj=longlat +ellps=intl +towgs84=-87,-98,-121",
        "+proj=geocent +ellps=bessel"}) {
    PjPtr const crs = proj.create(definition + " +type=crs");
    ASSERT_TRUE(crs) << definition;
    auto const keys = keys_from_crs(crs, 0, proj);
    ASSERT_TRUE(keys) << definition;
    EXPECT_EQ(keys->code(key::GTModelType).value_or(0) == 1, keys->has(key::ProjectedCRS)) << definition;
    EXPECT_EQ(keys->has(key::ProjMethod),
              definition.find("longlat") == std::string::npos && definition.find("geocent") == std::string::npos)
        << definition;
  }
}

TEST_F(CrsKeys, KeepShiftsToWgs84) {
  ProjSession const proj;
  auto const keys = keys_from_crs(proj.create("+proj=longlat +ellps=intl +towgs84=-87,-98,-121 +type=crs"), 0, proj);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->numbers(key::GeogTOWGS84), (std::vector<double>{-87, -98, -121, 0, 0, 0, 0}));
  auto const read = crs_from_keys(*keys, proj).crs;
  EXPECT_NE(proj.wkt(read, PJ_WKT1_GDAL).find("TOWGS84[-87,-98,-121,0,0,0,0]"), std::string::npos);
}

TEST_F(CrsKeys, HoldTheCodeOfANamelessCrs) {
  ProjSession const proj;
  EXPECT_EQ(keys_from_crs(proj.create("+proj=utm +zone=33 +datum=WGS84 +type=crs"), 0, proj)->code(key::ProjectedCRS),
            32633);
  EXPECT_EQ(keys_from_crs(proj.create("+proj=longlat +datum=NAD27 +type=crs"), 0, proj)->code(key::GeodeticCRS), 4267);
}

TEST_F(CrsKeys, DoNotBelieveAWrongCode) {
  ProjSession const proj;
  std::string wkt = proj.wkt(proj.from_epsg(32631, PJ_CATEGORY_CRS), PJ_WKT1_GDAL);
  auto const at = wkt.find("\"central_meridian\",3");
  ASSERT_NE(at, std::string::npos);
  wkt.replace(at, 20, "\"central_meridian\",4");
  auto const keys = keys_from_crs(proj.create(wkt), 32631, proj);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->code(key::ProjectedCRS), kUserDefined);
  EXPECT_EQ(keys->number(key::ProjNatOriginLong), 4);
}

TEST_F(CrsKeys, LeaveToWktWhatGdalWouldMisread) {
  ProjSession const proj;
  // Angles in grads; heights above the ellipsoid of a projection that is given by parameters.
  EXPECT_FALSE(keys_from_crs(
      proj.create(R"(PROJCS["g",GEOGCS["g",DATUM["d",SPHEROID["s",6378249.2,293.4660]],PRIMEM["Greenwich",0],)"
                  R"(UNIT["grad",0.0157079632679489]],PROJECTION["Lambert_Conformal_Conic_1SP"],)"
                  R"(PARAMETER["latitude_of_origin",52],PARAMETER["central_meridian",0],PARAMETER["scale_factor",0.9],)"
                  R"(PARAMETER["false_easting",6],PARAMETER["false_northing",2],UNIT["metre",1]])"),
      0, proj));
  EXPECT_FALSE(
      keys_from_crs(proj.create("+proj=lcc +lat_1=33 +lat_2=45 +lon_0=-96 +datum=WGS84 +vunits=m +type=crs"), 0, proj));
}

TEST_F(CrsKeys, AreNoneForACrsOfWhichNothingIsKnown) {
  ProjSession const proj;
  auto const keys = keys_from_crs(crs_from_keys({}, proj).crs, 0, proj);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->size(), 0U);
}

TEST_F(CrsKeys, SayNothingOfOtherKinds) {
  ProjSession const proj;
  EXPECT_FALSE(keys_from_crs(proj.from_epsg(5773, PJ_CATEGORY_CRS), 0, proj));
  EXPECT_FALSE(keys_from_crs(proj.create("+proj=moll +lon_0=0 +datum=WGS84 +type=crs"), 0, proj));
}

TEST_F(CrsKeys, SameCrsIgnoresTheOrderOfAxes) {
  ProjSession const proj;
  PjPtr const east_first = proj.create("+proj=longlat +datum=WGS84 +type=crs");
  PjPtr const north_first = proj.from_epsg(4326, PJ_CATEGORY_CRS);
  EXPECT_TRUE(is_same_crs(east_first, north_first, proj));
  EXPECT_FALSE(is_same_crs(north_first, proj.from_epsg(4258, PJ_CATEGORY_CRS), proj));
  EXPECT_FALSE(is_same_crs(north_first, nullptr, proj));
}

}  // namespace
}  // namespace terrazzo::geo
