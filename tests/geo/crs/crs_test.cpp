// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/crs.hpp"

#include "geo/key_files.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

Crs describe(KeyFile const& file) { return *describe_crs({.text = {}, .keys = file.keys()}); }
Crs describe(std::string const& text) { return *describe_crs({.text = text, .keys = {}}); }

TEST(Crs, IsAbsentWhenNothingIsSaid) { EXPECT_FALSE(describe_crs({})); }

TEST(Crs, PassesCodesThrough) {
  auto const utm = describe(KeyFile()
                                .code(key::GTModelType, 1)
                                .code(key::ProjectedCRS, 32631)
                                .text(key::GTCitation, "WGS 84 / UTM zone 31N"));
  EXPECT_EQ(utm.kind, Kind::projected);
  EXPECT_EQ(utm.epsg, 32631);
  EXPECT_EQ(utm.name, "WGS 84 / UTM zone 31N");
  auto const geographic = describe(KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 4326));
  EXPECT_EQ(geographic.kind, Kind::geographic);
  EXPECT_EQ(geographic.epsg, 4326);
  auto const geocentric = describe(KeyFile().code(key::GTModelType, 3).code(key::GeodeticCRS, 4978));
  EXPECT_EQ(geocentric.kind, Kind::geocentric);
  EXPECT_EQ(geocentric.epsg, 4978);
}

TEST(Crs, TakesAProjectedCodeWithoutAModelForProjected) {
  EXPECT_EQ(describe(KeyFile().code(key::ProjectedCRS, 32631)).epsg, 32631);
  EXPECT_EQ(describe(KeyFile().code(key::GTModelType, 0).code(key::ProjectedCRS, 32631)).kind, Kind::local);
}

TEST(Crs, HasNoCodeWhenUserDefinedOrPrivate) {
  EXPECT_FALSE(describe(KeyFile().code(key::GTModelType, 1).code(key::ProjectedCRS, 32767)).epsg);
  EXPECT_FALSE(describe(KeyFile().code(key::GTModelType, 1).code(key::ProjectedCRS, 40000)).epsg);
  EXPECT_FALSE(describe(KeyFile().code(key::GTModelType, 2)).epsg);
}

TEST(Crs, IsCompoundWithAVerticalPartFromRevisionOneOn) {
  auto const both =
      describe(KeyFile(1).code(key::GTModelType, 2).code(key::GeodeticCRS, 4326).code(key::Vertical, 3855));
  EXPECT_EQ(both.kind, Kind::compound);
  EXPECT_FALSE(both.epsg);
  EXPECT_EQ(both.horizontal_epsg, 4326);
  EXPECT_EQ(both.vertical_epsg, 3855);
  auto const old =
      describe(KeyFile(0).code(key::GTModelType, 2).code(key::GeodeticCRS, 4326).code(key::Vertical, 5773));
  EXPECT_EQ(old.kind, Kind::geographic);
  EXPECT_EQ(old.epsg, 4326);
  EXPECT_EQ(old.vertical_epsg, 5773);
}

TEST(Crs, KeepsTheKindOfAHorizontalPartThatNoTableKnows) {
  auto const crs = describe(KeyFile().code(key::GTModelType, 1).code(key::ProjectedCRS, 900).code(key::Vertical, 5783));
  EXPECT_EQ(crs.kind, Kind::projected);
  EXPECT_FALSE(crs.epsg);
  EXPECT_EQ(crs.horizontal_epsg, 900);
  EXPECT_EQ(crs.vertical_epsg, 5783);
}

TEST(Crs, IsThreeDimensionalWithHeightsAboveTheEllipsoid) {
  auto const crs = describe(KeyFile().code(key::GTModelType, 2).code(key::GeodeticCRS, 4326).code(key::Vertical, 4979));
  EXPECT_EQ(crs.kind, Kind::geographic);
  EXPECT_EQ(crs.epsg, 4979);
}

TEST(Crs, CorrectsTheVerticalCodesOfTheFirstSpecification) {
  EXPECT_EQ(crs_codes(KeyFile(0).code(key::Vertical, 5103).keys()).vertical, 5703);
  EXPECT_EQ(crs_codes(KeyFile(1).code(key::Vertical, 5103).keys()).vertical, 5103);
  EXPECT_EQ(crs_codes(KeyFile(0).code(key::Vertical, 5171).keys()).vertical, 5773);
  auto const ellipsoidal = crs_codes(KeyFile(0).code(key::Vertical, 5030).keys());
  EXPECT_EQ(ellipsoidal.vertical, 0);
  EXPECT_EQ(ellipsoidal.vertical_datum, 6030);
  EXPECT_FALSE(crs_codes(KeyFile(1).code(key::Vertical, 40000).keys()).has_vertical());
}

TEST(Crs, TakesItsNameFromTheCitations) {
  auto const named =
      describe(KeyFile().code(key::GTModelType, 1).text(key::ProjectedCitation, "PCS Name = Mine|LUnits = m"));
  EXPECT_EQ(named.name, "Mine");
  auto const geographic =
      describe(KeyFile().code(key::GTModelType, 2).text(key::GeodeticCitation, "GCS Name = G|Datum = D"));
  EXPECT_EQ(geographic.name, "G");
  EXPECT_EQ(describe(KeyFile().code(key::GTModelType, 5).text(key::GTCitation, "plan")).name, "plan");
}

TEST(Crs, ReadsKindNameAndCodeOffWkt) {
  auto const crs = describe(
      " PROJCS[\"a [b\",GEOGCS[\"g\",AUTHORITY[\"EPSG\",\"4326\"]],UNIT[\"m\",1,AUTHORITY[\"EPSG\",\"9001\"]],"
      "AUTHORITY[\"EPSG\",\"32631\"]]");
  EXPECT_EQ(crs.kind, Kind::projected);
  EXPECT_EQ(crs.name, "a [b");
  EXPECT_EQ(crs.epsg, 32631);
  EXPECT_FALSE(describe("GEOGCRS[\"x\",DATUM[\"d\",ID[\"EPSG\",6326]]]").epsg);
  EXPECT_EQ(describe("GEOGCRS[\"x\",DATUM[\"d\"],ID[\"EPSG\",4326]]").epsg, 4326);
  EXPECT_EQ(describe("EPSG:3857").epsg, 3857);
  EXPECT_EQ(describe("nonsense").kind, Kind::unknown);
  EXPECT_EQ(describe("PROJCS[\"unfinished").kind, Kind::projected);
}

TEST(Crs, NamesUnitsOfHeights) {
  EXPECT_EQ(length_unit_name(9001), "metre");
  EXPECT_EQ(length_unit_name(9003), "US survey foot");
  EXPECT_EQ(length_unit_name(1), "");
}

}  // namespace
}  // namespace terrazzo::geo
