// SPDX-License-Identifier: Apache-2.0
//
// Needs PROJ and its database; skipped where they are not installed. What users see of it is in complete_crs_test.cpp.
#include "geo/crs/crs_from_geokeys.hpp"

#include "geo/key_files.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace terrazzo::geo {
namespace {

class CrsFromGeoKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    proj_.emplace();
    if (!proj_->has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
  [[nodiscard]] CrsFromGeoKeys from(KeyFile const& file) const { return crs_from_keys(file.keys(), *proj_); }
  std::optional<ProjSession> proj_;
};

KeyFile projected(std::uint16_t code) { return KeyFile().code(key::GTModelType, 1).code(key::ProjectedCRS, code); }

TEST_F(CrsFromGeoKeysTest, IsTheOfficialOneWhenTheKeysAreNothingButItsCode) {
  EXPECT_EQ(from(projected(2193)).epsg, 2193);
  EXPECT_EQ(from(projected(2193).code(key::ProjLinearUnits, 9001)).epsg, 2193);
}

TEST_F(CrsFromGeoKeysTest, KeepsTheCodeWhenTheBaseIsNamedToo) {
  EXPECT_EQ(from(projected(26711).code(key::GeodeticCRS, 4267)).epsg, 26711);
  EXPECT_EQ(from(projected(31467).code(key::GeodeticCRS, 4314)).epsg, 31467);  // northing before easting
  EXPECT_EQ(from(projected(26711).code(key::GeodeticCRS, 4326)).epsg, 0);
}

TEST_F(CrsFromGeoKeysTest, KeepsTheAnglesOfAProjectionOverABaseInGrads) {
  EXPECT_EQ(from(projected(27572).code(key::GeodeticCRS, 4807)).epsg, 27572);
  EXPECT_EQ(from(projected(27572).code(key::GeodeticDatum, 6807)).epsg, 27572);
  auto const lambert = from(projected(32767).code(key::GeodeticCRS, 4807).code(key::Projection, 18082));
  EXPECT_NE(proj_->wkt(lambert.crs, PJ_WKT1_GDAL).find("PARAMETER[\"latitude_of_origin\",52]"), std::string::npos)
      << proj_->wkt(lambert.crs, PJ_WKT1_GDAL);
}

TEST_F(CrsFromGeoKeysTest, TakesTheUnitThatImagineCites) {
  auto const feet = from(projected(2838).text(
      key::GTCitation, "IMAGINE GeoTIFF Support\nCopyright $Date$\nProjection Name = x\nUnits = international_feet\n"));
  EXPECT_EQ(feet.epsg, 0);
  EXPECT_NE(proj_->wkt(feet.crs, PJ_WKT2_2019).find("0.3048"), std::string::npos);
  auto const metres =
      from(projected(2838).text(key::GTCitation, "IMAGINE GeoTIFF Support\nCopyright $Date$\nUnits = meters\n"));
  EXPECT_EQ(metres.epsg, 2838);
}

TEST_F(CrsFromGeoKeysTest, RecognisesARegisteredNameWhoseParametersAgree) {
  KeyFile file = projected(32767);
  file.code(key::GeodeticCRS, 4326).code(key::ProjMethod, 15).number(key::ProjNatOriginLat, -71);
  file.number(key::ProjStraightVertPoleLong, 70).number(key::ProjFalseEasting, 6e6).number(key::ProjFalseNorthing, 6e6);
  file.text(key::GTCitation, "WGS 84 / Australian Antarctic Polar Stereographic");
  EXPECT_EQ(from(file).epsg, 3032);
}

TEST_F(CrsFromGeoKeysTest, ShiftsADatumThatNobodyKnows) {
  KeyFile file = projected(32767);
  file.code(key::Projection, 16125).number(key::EllipsoidSemiMajorAxis, 6378137);
  file.number(key::EllipsoidInvFlattening, 298.257222101).number(key::GeogTOWGS84, 0);
  auto const result = from(file);
  ASSERT_TRUE(result.crs);
  EXPECT_EQ(proj_->api().proj_get_type(result.crs.get()), PJ_TYPE_BOUND_CRS);
}

TEST_F(CrsFromGeoKeysTest, HasLatitudeFirstWhenItIsGeographicAndNotRegistered) {
  KeyFile file;
  file.code(key::GTModelType, 2).text(key::GeodeticCitation, "somewhere");
  file.number(key::EllipsoidSemiMajorAxis, 6371229).number(key::EllipsoidInvFlattening, 0);
  auto const result = from(file);
  ASSERT_TRUE(result.crs);
  EXPECT_EQ(result.epsg, 0);
  std::string const wkt = proj_->wkt(result.crs, PJ_WKT2_2019);
  ASSERT_NE(wkt.find("AXIS[\"latitude\""), std::string::npos) << wkt;
  EXPECT_LT(wkt.find("AXIS[\"latitude\""), wkt.find("AXIS[\"longitude\"")) << wkt;
}

TEST_F(CrsFromGeoKeysTest, TakesTheAngularUnitThatGdalCites) {
  KeyFile file;
  file.code(key::GTModelType, 2)
      .text(key::GeodeticCitation, "GCS Name = mine|Datum = d|Ellipsoid = s|AUnits = myunit|");
  file.number(key::EllipsoidSemiMajorAxis, 6378000).number(key::EllipsoidInvFlattening, 300);
  file.number(key::GeogAngularUnitSize, 0.0123);
  std::string const wkt = proj_->wkt(from(file).crs, PJ_WKT1_GDAL);
  EXPECT_NE(wkt.find("UNIT[\"myunit\",0.0123]"), std::string::npos) << wkt;
}

TEST_F(CrsFromGeoKeysTest, IsLocalWhenTheMethodIsUnknown) {
  auto const result = from(projected(32767).code(key::ProjMethod, 2).text(key::GTCitation, "Alaska"));
  EXPECT_EQ(proj_->api().proj_get_type(result.crs.get()), PJ_TYPE_ENGINEERING_CRS);
  EXPECT_EQ(proj_->name(result.crs), "Alaska");
}

TEST_F(CrsFromGeoKeysTest, TakesAnyCodeInTheKeyOfProjectedOnes) { EXPECT_EQ(from(projected(4326)).epsg, 4326); }

TEST_F(CrsFromGeoKeysTest, TellsWhenAGeographicCodeAndItsParametersDisagree) {
  KeyFile const agrees = KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 4267);
  EXPECT_FALSE(from(agrees).contradictory);
  auto const disagrees = from(KeyFile(agrees).number(key::EllipsoidInvFlattening, 298.257222101));
  EXPECT_TRUE(disagrees.contradictory);
  EXPECT_EQ(disagrees.epsg, 0);
  auto const dynamic = from(
      KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 4326).number(key::EllipsoidInvFlattening, 298.25722));
  EXPECT_EQ(dynamic.epsg, 4326);
}

TEST_F(CrsFromGeoKeysTest, NamesTheUnitOfHeights) {
  EXPECT_EQ(from(projected(32631).code(key::Vertical, 6360)).vertical_unit, "US survey foot");
  EXPECT_EQ(from(projected(32631)).vertical_unit, "");
}

TEST_F(CrsFromGeoKeysTest, TellsAStandInForAnUnknownCodeFromWhatTheKeysDefine) {
  auto const stand_in = from(projected(900));
  EXPECT_EQ(stand_in.unknown_code, 900);
  EXPECT_TRUE(stand_in.stand_in);
  auto const geographic = from(KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 900));
  EXPECT_EQ(geographic.unknown_code, 900);
  EXPECT_TRUE(geographic.stand_in);
  auto const with_datum =
      from(KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 900).code(key::GeodeticDatum, 6258));
  EXPECT_EQ(with_datum.unknown_code, 900);
  EXPECT_FALSE(with_datum.stand_in);
  auto const on_unknown_base = from(projected(32767).code(key::GeodeticCRS, 900).code(key::Projection, 16031));
  EXPECT_EQ(on_unknown_base.unknown_code, 900);
  EXPECT_FALSE(on_unknown_base.stand_in);
  for (KeyFile const& known : {projected(32631), projected(32631).code(key::GeodeticCRS, 4326), projected(4326),
                               projected(32631).code(key::Vertical, 5773)}) {
    EXPECT_EQ(from(known).unknown_code, 0);
    EXPECT_FALSE(from(known).stand_in);
  }
}

TEST_F(CrsFromGeoKeysTest, IgnoresAVerticalCodeThatIsNotVertical) {
  auto const result = from(projected(32631).code(key::Vertical, 3857));
  EXPECT_EQ(proj_->api().proj_get_type(result.crs.get()), PJ_TYPE_PROJECTED_CRS);
}

}  // namespace
}  // namespace terrazzo::geo
