// SPDX-License-Identifier: Apache-2.0
//
// Needs PROJ and its database; skipped where they are not installed.
#include "geo/crs/proj_library.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace terrazzo::geo {
namespace {

class ProjLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    proj_.emplace();
    if (!proj_->has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
  std::optional<ProjSession> proj_;
};

TEST_F(ProjLibrary, HasEveryFunctionOnceItIsLoaded) {
#define TERRAZZO_PROJ_CHECK(function) EXPECT_NE(proj_->api().function, nullptr) << #function;
  TERRAZZO_PROJ_FUNCTIONS(TERRAZZO_PROJ_CHECK)
#undef TERRAZZO_PROJ_CHECK
}

TEST_F(ProjLibrary, MakesObjectsFromCodesTextsAndNames) {
  auto const by_code = proj_->from_epsg(4326, PJ_CATEGORY_CRS);
  EXPECT_EQ(proj_->name(by_code), "WGS 84");
  EXPECT_EQ(proj_->epsg(by_code), 4326);
  EXPECT_EQ(proj_->epsg(proj_->create("EPSG:3857")), 3857);
  EXPECT_EQ(proj_->epsg(proj_->from_name("WGS 84 / UTM zone 31N", PJ_TYPE_PROJECTED_CRS)), 32631);
}

TEST_F(ProjLibrary, TakesExactNamesThatAUserTypes) {
  EXPECT_EQ(proj_->epsg(proj_->create_typed(" wgs 84 ")), 4326);
  EXPECT_EQ(proj_->epsg(proj_->create_typed("WGS 84 / UTM zone 31N")), 32631);
  EXPECT_EQ(proj_->epsg(proj_->create_typed("ETRS89 / UTM zone 32N + DHHN92 height")), 5555);
  EXPECT_EQ(proj_->epsg(proj_->create_typed("DHHN92 height")), 5783);
  EXPECT_EQ(proj_->epsg(proj_->create_typed("EPSG:3857")), 3857);
  EXPECT_TRUE(proj_->create_typed("+proj=utm +zone=32"));
  // "here" is in "Sphere"; a datum and an operation are no CRSs.
  for (char const* text : {"here", "WGS 8", "UTM zone 31N", "World Geodetic System 1984 ensemble", "UTM zone 32N",
                           "/etc/passwd", "epsg", "4326", "", "'; --", "%", "+init=epsg:4326"}) {
    EXPECT_FALSE(proj_->create_typed(text)) << text;
  }
}

TEST_F(ProjLibrary, AnswersNullAndEmptyForWhatDoesNotExist) {
  EXPECT_FALSE(proj_->from_epsg(0, PJ_CATEGORY_CRS));
  EXPECT_FALSE(proj_->from_epsg(1, PJ_CATEGORY_CRS));
  EXPECT_FALSE(proj_->create("PROJCS[\"cut"));
  EXPECT_FALSE(proj_->from_name("no such thing", PJ_TYPE_PROJECTED_CRS));
  PjPtr const none;
  EXPECT_EQ(proj_->name(none), "");
  EXPECT_EQ(proj_->epsg(none), 0);
  EXPECT_EQ(proj_->wkt(none, PJ_WKT2_2019), "");
  EXPECT_EQ(proj_->projjson(none), "");
}

TEST_F(ProjLibrary, IdentifiesWhatItIsSureOf) {
  auto const crs = proj_->create(
      "PROJCS[\"mine\",GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],"
      "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]],PROJECTION[\"Transverse_Mercator\"],"
      "PARAMETER[\"latitude_of_origin\",0],PARAMETER[\"central_meridian\",3],PARAMETER[\"scale_factor\",0.9996],"
      "PARAMETER[\"false_easting\",500000],PARAMETER[\"false_northing\",0],UNIT[\"metre\",1]]");
  ASSERT_TRUE(crs);
  EXPECT_EQ(proj_->epsg(crs), 0);
  EXPECT_EQ(proj_->identify(crs, 70), 32631);
  EXPECT_EQ(proj_->identify(crs, 70, 32631), 32631);
  EXPECT_EQ(proj_->identify(crs, 70, 32632), 0);
  EXPECT_EQ(proj_->identify(crs, 101), 0);
}

}  // namespace
}  // namespace terrazzo::geo
