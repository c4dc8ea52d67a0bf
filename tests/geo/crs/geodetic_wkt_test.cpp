// SPDX-License-Identifier: Apache-2.0
//
// Needs PROJ and its database; skipped where they are not installed.
#include "geo/crs/geodetic_wkt.hpp"

#include "geo/key_files.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace terrazzo::geo {
namespace {

class GeodeticWktTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    proj_.emplace();
    if (!proj_->has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
  [[nodiscard]] GeodeticWkt wkt(KeyFile const& file, int fallback = 0) const {
    return geodetic_wkt(file.keys(), fallback, *proj_);
  }
  std::optional<ProjSession> proj_;
};

TEST_F(GeodeticWktTest, FollowsTheCode) {
  auto const result = wkt(KeyFile().code(key::GeodeticCRS, 4267));
  EXPECT_EQ(result.epsg, 4267);
  EXPECT_TRUE(result.wkt.starts_with("GEOGCS[\"NAD27\",DATUM[\"North American Datum 1927\",SPHEROID[\"Clarke 1866\","))
      << result.wkt;
  EXPECT_TRUE(result.wkt.ends_with(",AUTHORITY[\"EPSG\",\"4267\"]]"));
  EXPECT_EQ(wkt(KeyFile().code(key::GTModelType, 1), 4267).epsg, 4267);
}

TEST_F(GeodeticWktTest, KeepsTheCodeWhenOtherKeysAgree) {
  auto const result = wkt(KeyFile()
                              .code(key::GeodeticCRS, 4326)
                              .code(key::GeodeticDatum, 6326)
                              .code(key::Ellipsoid, 7030)
                              .code(key::GeogAngularUnits, 9102)
                              .number(key::EllipsoidSemiMajorAxis, 6378137)
                              .number(key::EllipsoidInvFlattening, 298.257223563));
  EXPECT_EQ(result.epsg, 4326);
}

TEST_F(GeodeticWktTest, LosesTheCodeWhenTheyDoNot) {
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 4267).number(key::EllipsoidSemiMajorAxis, 6378000)).epsg, 0);
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 4267).code(key::GeodeticDatum, 6326)).epsg, 0);
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 4267).code(key::PrimeMeridian, 8903)).epsg, 0);
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 4267).code(key::GeogAngularUnits, 9105)).epsg, 0);
}

TEST_F(GeodeticWktTest, HandsOverWhatIsRegisteredUnderTheCode) {
  EXPECT_EQ(proj_->epsg(wkt(KeyFile().code(key::GeodeticCRS, 4267)).official), 4267);
  auto const changed = wkt(KeyFile().code(key::GeodeticCRS, 4267).number(key::EllipsoidSemiMajorAxis, 6378000));
  EXPECT_EQ(proj_->epsg(changed.official), 4267);
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 900)).official, nullptr);  // no such code
  EXPECT_EQ(wkt(KeyFile().number(key::EllipsoidSemiMajorAxis, 6378137)).official, nullptr);
}

TEST_F(GeodeticWktTest, BuildsFromNumbersAndCitation) {
  auto const result = wkt(KeyFile()
                              .number(key::EllipsoidSemiMajorAxis, 6378137)
                              .number(key::EllipsoidSemiMinorAxis, 6356752.314245179)
                              .number(key::PrimeMeridianLongitude, 2.5)
                              .text(key::GeodeticCitation, "GCS Name = G|Datum = D|Ellipsoid = E|Primem = P|"));
  EXPECT_EQ(result.epsg, 0);
  EXPECT_TRUE(result.wkt.starts_with("GEOGCS[\"G\",DATUM[\"D\",SPHEROID[\"E\",6378137,298.2572235")) << result.wkt;
  EXPECT_NE(result.wkt.find("PRIMEM[\"P\",2.5]"), std::string::npos) << result.wkt;
}

TEST_F(GeodeticWktTest, TakesTheLongitudeOfAMeridianInTheAngularUnit) {
  auto const in_grads = [&](KeyFile const& file) { return wkt(KeyFile(file).code(key::GeogAngularUnits, 9105)).wkt; };
  KeyFile const numbers = KeyFile().number(key::EllipsoidSemiMajorAxis, 6378137);
  EXPECT_NE(
      in_grads(KeyFile(numbers).number(key::PrimeMeridianLongitude, 2.5969213)).find("PRIMEM[\"unnamed\",2.5969213]"),
      std::string::npos);
  EXPECT_NE(in_grads(KeyFile(numbers).code(key::PrimeMeridian, 8903)).find("PRIMEM[\"Paris\",2.5969213"),
            std::string::npos)
      << "a registered one is known in degrees, grads or otherwise";
}

TEST_F(GeodeticWktTest, FallsBackToWgs84WithoutAnyEllipsoid) {
  EXPECT_NE(wkt(KeyFile().code(key::GTModelType, 2)).wkt.find("6378137,298.257223563"), std::string::npos);
}

TEST_F(GeodeticWktTest, WritesTheShiftOfAnUnknownDatumOnly) {
  EXPECT_EQ(wkt(KeyFile().code(key::GeodeticCRS, 4267).number(key::GeogTOWGS84, 1)).wkt.find("TOWGS84"),
            std::string::npos);
  EXPECT_NE(wkt(KeyFile().number(key::EllipsoidSemiMajorAxis, 6378137).number(key::GeogTOWGS84, 1.5))
                .wkt.find("TOWGS84[1.5,0,0,0,0,0,0]"),
            std::string::npos);
}

TEST_F(GeodeticWktTest, KnowsUnitsByCodeAndBySize) {
  UnitOfMeasure const metre{"metre", 1, 9001};
  EXPECT_EQ(unit_of_measure(9003, 0, metre, *proj_).name, "US survey foot");
  EXPECT_EQ(unit_of_measure(9001, 0, metre, *proj_).wkt(), "UNIT[\"metre\",1,AUTHORITY[\"EPSG\",\"9001\"]]");
  EXPECT_EQ(unit_of_measure(32767, 0.5, metre, *proj_).factor, 0.5);
  EXPECT_EQ(unit_of_measure(32767, -1, metre, *proj_).factor, 1);
  EXPECT_EQ(unit_of_measure(1, 0, metre, *proj_).epsg, 9001);
}

TEST(WktString, DoublesQuotes) { EXPECT_EQ(wkt_string("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace terrazzo::geo
