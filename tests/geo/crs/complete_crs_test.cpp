// SPDX-License-Identifier: Apache-2.0
//
// Needs PROJ and its database; skipped where they are not installed.
#include "geo/crs/complete_crs.hpp"

#include "geo/crs/proj_library.hpp"
#include "geo/key_files.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

class CompleteCrs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    if (!ProjSession().has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }

  static Info complete(CrsDefinition const& definition) {
    Info info;
    info.bands.resize(1);
    info.georeference.crs = describe_crs(definition);
    EXPECT_TRUE(complete_crs(definition, info));
    return info;
  }
  static Info complete(KeyFile const& file) { return complete({.text = {}, .keys = file.keys()}); }
  static Crs crs_of(KeyFile const& file) { return *complete(file).georeference.crs; }
};

KeyFile geographic(std::uint16_t code, std::uint16_t minor_revision = 1) {
  return KeyFile(minor_revision).code(key::GTModelType, 2).code(key::GeodeticCRS, code);
}
KeyFile projected(std::uint16_t code, std::uint16_t minor_revision = 1) {
  return KeyFile(minor_revision).code(key::GTModelType, 1).code(key::ProjectedCRS, code);
}
KeyFile laea_europe() {
  KeyFile file;
  file.code(key::GTModelType, 1).code(key::ProjectedCRS, 32767).code(key::GeodeticCRS, 4258).code(key::ProjMethod, 10);
  file.number(key::ProjCenterLat, 52).number(key::ProjCenterLong, 10);
  file.number(key::ProjFalseEasting, 4321000).number(key::ProjFalseNorthing, 3210000).code(key::ProjLinearUnits, 9001);
  return file.text(key::GTCitation, "ETRS89-extended / LAEA Europe");
}

TEST_F(CompleteCrs, FillsNameWktAndProjjsonOfACode) {
  auto const crs = crs_of(projected(32631));
  EXPECT_EQ(crs.epsg, 32631);
  EXPECT_EQ(crs.kind, Kind::projected);
  EXPECT_EQ(crs.name, "WGS 84 / UTM zone 31N");
  EXPECT_TRUE(crs.wkt.starts_with("PROJCRS[\"WGS 84 / UTM zone 31N\""));
  EXPECT_TRUE(crs.projjson.starts_with("{"));
  EXPECT_TRUE(complete(projected(32631)).warnings.empty());
}

// EPSG numbers CRSs from 1024 on: as good as a code that is newer than any PROJ.
constexpr std::uint16_t kNewCode = 900;

// What describe_crs() says stays, and a warning tells why.
void expect_as_described(KeyFile const& file, int unknown_code = kNewCode) {
  CrsDefinition const definition{.text = {}, .keys = file.keys()};
  Info info;
  info.georeference.crs = describe_crs(definition);
  EXPECT_FALSE(complete_crs(definition, info));
  Crs const wanted = *describe_crs(definition);
  Crs const& crs = *info.georeference.crs;
  EXPECT_EQ(crs.kind, wanted.kind);
  EXPECT_EQ(crs.epsg, wanted.epsg);
  EXPECT_EQ(crs.horizontal_epsg, wanted.horizontal_epsg);
  EXPECT_EQ(crs.vertical_epsg, wanted.vertical_epsg);
  EXPECT_EQ(crs.name, wanted.name);
  EXPECT_EQ(crs.wkt, "");
  EXPECT_EQ(crs.projjson, "");
  ASSERT_EQ(info.warnings.size(), 1U);
  EXPECT_NE(info.warnings[0].find("EPSG:" + std::to_string(unknown_code)), std::string::npos) << info.warnings[0];
}

TEST_F(CompleteCrs, KeepsCodesThatProjDoesNotKnow) {
  expect_as_described(projected(kNewCode));
  expect_as_described(projected(kNewCode)
                          .text(key::GTCitation, "New / UTM zone 28N")
                          .text(key::GeodeticCitation, "New")
                          .code(key::ProjLinearUnits, 9001));
  expect_as_described(geographic(kNewCode));
  expect_as_described(geographic(kNewCode).number(key::EllipsoidSemiMajorAxis, 6378137));
  expect_as_described(KeyFile().code(key::GTModelType, 3).code(key::GeodeticCRS, kNewCode));
  expect_as_described(projected(32631).code(key::Vertical, kNewCode));
  expect_as_described(geographic(4326).code(key::Vertical, kNewCode));
  expect_as_described(projected(kNewCode).code(key::Vertical, 5783));
  expect_as_described(geographic(kNewCode).code(key::Vertical, kNewCode + 1), kNewCode + 1);
}

TEST_F(CompleteCrs, KeepsTheCodeOfAProjectedCrsWhoseBaseHasNoDatum) {
  auto file = projected(kNewCode).code(key::GeodeticCRS, kNewCode + 1).code(key::ProjMethod, 10);
  expect_as_described(file.number(key::ProjCenterLat, 51).number(key::ProjCenterLong, 10));
}

TEST_F(CompleteCrs, BuildsACrsWithAnUnknownCodeFromItsParameters) {
  auto file = projected(kNewCode).code(key::GeodeticCRS, 4258).code(key::ProjMethod, 10);
  auto const info = complete(file.number(key::ProjCenterLat, 51).number(key::ProjCenterLong, 10));
  EXPECT_EQ(info.georeference.crs->kind, Kind::projected);
  EXPECT_FALSE(info.georeference.crs->epsg);
  EXPECT_NE(info.georeference.crs->wkt.find("51"), std::string::npos);
  ASSERT_EQ(info.warnings.size(), 1U);
  EXPECT_NE(info.warnings[0].find("EPSG:900"), std::string::npos);
}

TEST_F(CompleteCrs, IgnoresAnUnknownVerticalCodeInTheFirstSpecification) {
  auto const info = complete(projected(32631, 0).code(key::Vertical, kNewCode));
  EXPECT_EQ(info.georeference.crs->epsg, 32631);
  EXPECT_FALSE(info.georeference.crs->wkt.empty());
  EXPECT_TRUE(info.warnings.empty());
}

TEST_F(CompleteCrs, GivesHeightsTheirUnitBesideAnUnknownCode) {
  CrsDefinition const definition{.text = {}, .keys = projected(kNewCode).code(key::Vertical, 6360).keys()};
  Info info;
  info.bands.resize(1);
  info.georeference.crs = describe_crs(definition);
  EXPECT_FALSE(complete_crs(definition, info));
  EXPECT_EQ(info.bands[0].unit, "US survey foot");
}

TEST_F(CompleteCrs, HasNoUnitWhereTheFileSaysOnlyWhatAPixelStandsFor) {
  auto const crs = crs_of(KeyFile(0).code(key::GTRasterType, 2));
  EXPECT_EQ(crs.kind, Kind::local);
  EXPECT_NE(crs.wkt.find("\"unknown\""), std::string::npos) << crs.wkt;
  EXPECT_EQ(crs.wkt.find("metre"), std::string::npos) << crs.wkt;
}

TEST_F(CompleteCrs, TakesAwayACodeWhoseUnitIsOverridden) {
  auto const crs = crs_of(projected(32631).code(key::ProjLinearUnits, 9002));
  EXPECT_FALSE(crs.epsg);
  EXPECT_NE(crs.wkt.find("foot"), std::string::npos);
}

TEST_F(CompleteCrs, KeepsACodeThatTheParametersConfirm) {
  auto file = projected(3035).code(key::GeodeticCRS, 4258).code(key::ProjMethod, 10);
  file.number(key::ProjCenterLat, 52).number(key::ProjCenterLong, 10);
  file.number(key::ProjFalseEasting, 4321000).number(key::ProjFalseNorthing, 3210000);
  EXPECT_EQ(crs_of(file).epsg, 3035);
  auto moved = projected(3035).code(key::GeodeticCRS, 4258).code(key::ProjMethod, 10);
  moved.number(key::ProjCenterLat, 51).number(key::ProjCenterLong, 10);
  EXPECT_FALSE(crs_of(moved).epsg);
}

TEST_F(CompleteCrs, FindsTheCodeOfParameters) {
  auto const crs = crs_of(laea_europe());
  EXPECT_EQ(crs.epsg, 3035);
  EXPECT_EQ(crs.kind, Kind::projected);
}

TEST_F(CompleteCrs, BuildsAnUnknownEllipsoid) {
  auto const crs = crs_of(KeyFile()
                              .code(key::GTModelType, 2)
                              .code(key::GeodeticCRS, 32767)
                              .number(key::EllipsoidSemiMajorAxis, 1737400)
                              .number(key::EllipsoidInvFlattening, 0)
                              .text(key::GeodeticCitation, "GCS Name = Moon|Datum = D_Moon|Ellipsoid = Moon ball|"));
  EXPECT_FALSE(crs.epsg);
  EXPECT_EQ(crs.name, "Moon");
  EXPECT_NE(crs.wkt.find("ELLIPSOID[\"Moon ball\",1737400,0"), std::string::npos) << crs.wkt;
}

TEST_F(CompleteCrs, UsesTheProjectionOfAZoneWithAnotherDatum) {
  auto const crs = crs_of(KeyFile()
                              .code(key::GTModelType, 1)
                              .code(key::ProjectedCRS, 32767)
                              .code(key::GeodeticCRS, 4326)
                              .code(key::Projection, 16031));
  EXPECT_EQ(crs.epsg, 32631);
}

TEST_F(CompleteCrs, MakesCompoundsAndFindsTheirCode) {
  auto const info = complete(geographic(4326).code(key::Vertical, 3855));
  auto const& crs = *info.georeference.crs;
  EXPECT_EQ(crs.kind, Kind::compound);
  EXPECT_EQ(crs.epsg, 9518);
  EXPECT_EQ(crs.horizontal_epsg, 4326);
  EXPECT_EQ(crs.vertical_epsg, 3855);
  EXPECT_EQ(info.bands[0].unit, "metre");
}

TEST_F(CompleteCrs, LeavesTheVerticalPartOutForTheFirstSpecification) {
  auto const info = complete(geographic(4326, 0).code(key::Vertical, 5773));
  EXPECT_EQ(info.georeference.crs->epsg, 4326);
  EXPECT_EQ(info.georeference.crs->kind, Kind::geographic);
  EXPECT_EQ(info.bands[0].unit, "metre");
}

TEST_F(CompleteCrs, LiftsAProjectedCrsToHeightsAboveTheEllipsoid) {
  auto const crs = crs_of(projected(32631).code(key::Vertical, 4979));
  EXPECT_EQ(crs.kind, Kind::projected);
  EXPECT_FALSE(crs.epsg);
  EXPECT_NE(crs.wkt.find("CS[Cartesian,3]"), std::string::npos) << crs.wkt;
}

TEST_F(CompleteCrs, DescribesHeightsWithoutACode) {
  auto const info = complete(projected(32631).code(key::Vertical, 32767).code(key::VerticalUnits, 9002));
  EXPECT_EQ(info.georeference.crs->kind, Kind::compound);
  EXPECT_EQ(info.bands[0].unit, "foot");
}

TEST_F(CompleteCrs, UnderstandsGeocentricAndLocal) {
  auto const geocentric = crs_of(KeyFile().code(key::GTModelType, 3).code(key::GeodeticCRS, 4978));
  EXPECT_EQ(geocentric.epsg, 4978);
  EXPECT_EQ(geocentric.kind, Kind::geocentric);
  auto const local = crs_of(KeyFile().code(key::GTModelType, 5).text(key::GTCitation, "building plan"));
  EXPECT_EQ(local.kind, Kind::local);
  EXPECT_EQ(local.name, "building plan");
}

TEST_F(CompleteCrs, GivesTheCodesOfTheParts) {
  EXPECT_EQ(crs_of(laea_europe()).horizontal_epsg, 3035);
  EXPECT_FALSE(crs_of(projected(32631).code(key::ProjLinearUnits, 9002)).horizontal_epsg);
  auto const compound = *complete({.text = "EPSG:9518", .keys = {}}).georeference.crs;
  EXPECT_EQ(compound.kind, Kind::compound);
  EXPECT_EQ(compound.horizontal_epsg, 4326);
  EXPECT_EQ(compound.vertical_epsg, 3855);
}

TEST_F(CompleteCrs, RefusesADefinitionOfAbsurdLength) {
  CrsDefinition const definition{.text = "LOCAL_CS[\"" + std::string(1 << 20, 'x') + "\"]", .keys = {}};
  Info info;
  info.georeference.crs = describe_crs(definition);
  EXPECT_FALSE(complete_crs(definition, info));
}

TEST_F(CompleteCrs, ReadsWktOfSidecars) {
  auto const from_code = complete({.text = "EPSG:27700", .keys = {}});
  EXPECT_EQ(from_code.georeference.crs->name, "OSGB36 / British National Grid");
  auto const esri =
      complete({.text = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],"
                        "PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]",
                .keys = {}});
  EXPECT_EQ(esri.georeference.crs->epsg, 4326);
}

TEST_F(CompleteCrs, ChangesNothingWhenTheDefinitionIsNonsense) {
  CrsDefinition const definition{.text = "PROJCS[\"cut", .keys = {}};
  Info info;
  info.georeference.crs = describe_crs(definition);
  EXPECT_FALSE(complete_crs(definition, info));
  EXPECT_EQ(info.georeference.crs->kind, Kind::projected);
  CrsDefinition const name{.text = "WGS 84", .keys = {}};  // a name is not a definition
  info.georeference.crs = describe_crs(name);
  EXPECT_FALSE(complete_crs(name, info));
  Info none;
  EXPECT_FALSE(complete_crs({}, none));
}

TEST_F(CompleteCrs, BearsNamesWithQuotesAndBrackets) {
  auto const crs = crs_of(KeyFile().code(key::GTModelType, 5).text(key::GTCitation, "a \"quoted\" [plan"));
  EXPECT_EQ(crs.name, "a \"quoted\" [plan");
}

TEST_F(CompleteCrs, WorksInManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> codes(4);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    threads.emplace_back(
        [&codes, i] { codes[i] = crs_of(projected(static_cast<std::uint16_t>(32631 + i))).epsg.value_or(0); });
  }
  for (auto& thread : threads) { thread.join(); }
  EXPECT_EQ(codes, (std::vector<int>{32631, 32632, 32633, 32634}));
}

}  // namespace
}  // namespace terrazzo::geo
