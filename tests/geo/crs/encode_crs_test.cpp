// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/encode_crs.hpp"

#include "geo/crs/complete_crs.hpp"
#include "geo/crs/crs.hpp"
#include "geo/crs/proj_library.hpp"
#include "geo/written_tags.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

GeoKeys keys_of(Crs const& crs) {
  GeoKeys keys;
  EXPECT_EQ(encode_crs(crs, keys), "");
  return keys;
}

Crs read_back(Crs const& crs) { return *describe_crs({.text = {}, .keys = keys_of(crs)}); }

TEST(EncodeCrs, PutsCodesIntoTheirKeys) {
  GeoKeys const projected = keys_of({.epsg = 32631});
  EXPECT_EQ(projected.code(key::GTModelType), 1);
  EXPECT_EQ(projected.code(key::ProjectedCRS), 32631);
  EXPECT_EQ(projected.size(), 2U);
  EXPECT_TRUE(projected.is_revision_1_0());
  GeoKeys const geographic = keys_of({.epsg = 4326});
  EXPECT_EQ(geographic.code(key::GTModelType), 2);
  EXPECT_EQ(geographic.code(key::GeodeticCRS), 4326);
}

TEST(EncodeCrs, PutsHeightsIntoTheVerticalKey) {
  GeoKeys const heights = keys_of({.kind = Kind::compound, .horizontal_epsg = 25832, .vertical_epsg = 5783});
  EXPECT_EQ(heights.code(key::ProjectedCRS), 25832);
  EXPECT_EQ(heights.code(key::Vertical), 5783);
  EXPECT_FALSE(heights.is_revision_1_0());
  GeoKeys const ellipsoidal = keys_of({.epsg = 4979});
  EXPECT_EQ(ellipsoidal.code(key::GeodeticCRS), 4326);
  EXPECT_EQ(ellipsoidal.code(key::Vertical), 4979);
}

TEST(EncodeCrs, GivesCodesBackAsTheyWere) {
  for (Crs const& given : {Crs{.kind = Kind::projected, .epsg = 2154, .horizontal_epsg = 2154},
                           Crs{.kind = Kind::geographic, .epsg = 4258, .horizontal_epsg = 4258},
                           Crs{.kind = Kind::geocentric, .epsg = 4978, .horizontal_epsg = 4978},
                           Crs{.kind = Kind::geographic, .epsg = 4979, .horizontal_epsg = 4326, .vertical_epsg = 4979},
                           Crs{.kind = Kind::compound, .horizontal_epsg = 28992, .vertical_epsg = 5709},
                           Crs{.kind = Kind::local, .name = "site grid"},
                           // Codes that neither the table nor PROJ knows.
                           Crs{.kind = Kind::projected, .epsg = 900, .horizontal_epsg = 900, .name = "New / TM"},
                           Crs{.kind = Kind::geographic, .epsg = 900, .horizontal_epsg = 900, .name = "New"},
                           Crs{.kind = Kind::geocentric, .epsg = 900, .horizontal_epsg = 900},
                           Crs{.kind = Kind::compound, .horizontal_epsg = 32631, .vertical_epsg = 900},
                           Crs{.kind = Kind::projected, .horizontal_epsg = 900, .vertical_epsg = 5783},
                           Crs{.kind = Kind::geographic, .horizontal_epsg = 900, .vertical_epsg = 901}}) {
    Crs const read = read_back(given);
    EXPECT_EQ(read.kind, given.kind);
    EXPECT_EQ(read.epsg, given.epsg);
    EXPECT_EQ(read.horizontal_epsg, given.horizontal_epsg);
    EXPECT_EQ(read.vertical_epsg, given.vertical_epsg);
    EXPECT_EQ(read.name, given.name);
  }
}

TEST(EncodeCrs, LeavesOutHeightsThatAreNotPartOfTheCrs) {
  GeoKeys const keys =
      keys_of({.kind = Kind::projected, .epsg = 26711, .horizontal_epsg = 26711, .vertical_epsg = 5773});
  EXPECT_FALSE(keys.has(key::Vertical));
}

TEST(EncodeCrs, RefusesACrsOfNothing) {
  GeoKeys keys;
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs({}, keys)); }), ErrorKind::usage);
  Crs const parts{.horizontal_epsg = 32631, .vertical_epsg = 32632};
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs(parts, keys)); }), ErrorKind::usage);
  Crs const no_key_code{.kind = Kind::projected, .horizontal_epsg = 32631, .vertical_epsg = 900 + 65536};
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs(no_key_code, keys)); }), ErrorKind::usage);
}

class EncodeCrsByProj : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    if (!ProjSession().has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
  // What a reader with PROJ makes of it.
  static Crs completed(Crs const& given) {
    CrsDefinition definition{.text = {}, .keys = keys_of(given)};
    if (auto const* citation = definition.keys->text(key::ProjectedCitation);
        citation != nullptr && citation->starts_with("ESRI PE String = ")) {
      definition.text = citation->substr(17);
    }
    Info info;
    info.georeference.crs = describe_crs(definition);
    EXPECT_TRUE(complete_crs(definition, info));
    return *info.georeference.crs;
  }
};

TEST_F(EncodeCrsByProj, TakesOthersApart) {
  GeoKeys const compound = keys_of({.epsg = 7415});
  EXPECT_EQ(compound.code(key::ProjectedCRS), 28992);
  EXPECT_EQ(compound.code(key::Vertical), 5709);
  GeoKeys const geocentric = keys_of({.epsg = 4978});
  EXPECT_EQ(geocentric.code(key::GTModelType), 3);
  EXPECT_EQ(geocentric.code(key::GeodeticCRS), 4978);
  GeoKeys const lifted = keys_of({.epsg = 4937});
  EXPECT_EQ(lifted.code(key::GeodeticCRS), 4258);
  EXPECT_EQ(lifted.code(key::Vertical), 4937);
}

TEST_F(EncodeCrsByProj, RefusesWhatProjDoesNotKnow) {
  GeoKeys keys;
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs({.epsg = 32699}, keys)); }), ErrorKind::usage);
  Crs const no_key_code{.kind = Kind::projected, .epsg = 900 + 65536};
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs(no_key_code, keys)); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs({.wkt = "PROJCS[\"x\"]"}, keys)); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_crs({.projjson = "{}"}, keys)); }), ErrorKind::usage);
}

TEST_F(EncodeCrsByProj, FindsTheCodeOfADefinition) {
  std::string wkt, projjson;
  {
    ProjSession const proj;
    wkt = proj.wkt(proj.from_epsg(3035, PJ_CATEGORY_CRS), PJ_WKT1_GDAL);
    projjson = proj.projjson(proj.from_epsg(3035, PJ_CATEGORY_CRS));
  }
  EXPECT_EQ(keys_of({.wkt = wkt}).code(key::ProjectedCRS), 3035);
  EXPECT_EQ(keys_of({.wkt = "not looked at", .projjson = projjson}).code(key::ProjectedCRS), 3035);
}

TEST_F(EncodeCrsByProj, CitesWhatNoKeySays) {
  Crs const given{.wkt =
                      R"(PROJCRS["my world",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",)"
                      R"(ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["c",METHOD["Mollweide"],)"
                      R"(PARAMETER["Longitude of natural origin",11],PARAMETER["False easting",0],)"
                      R"(PARAMETER["False northing",0]],CS[Cartesian,2],AXIS["easting",east],AXIS["northing",north],)"
                      R"(LENGTHUNIT["metre",1]])"};
  GeoKeys const keys = keys_of(given);
  EXPECT_EQ(keys.code(key::GTModelType), kUserDefined);
  ASSERT_NE(keys.text(key::ProjectedCitation), nullptr);
  EXPECT_TRUE(keys.text(key::ProjectedCitation)->starts_with("ESRI PE String = PROJCS["));
  Crs const read = completed(given);
  EXPECT_EQ(read.kind, Kind::projected);
  EXPECT_NE(read.wkt.find("Mollweide"), std::string::npos);
  EXPECT_NE(read.wkt.find("11"), std::string::npos);
}

TEST_F(EncodeCrsByProj, ReturnsWhatIsTooLongForGdal) {
  std::string const name(2500, 'x');
  GeoKeys keys;
  std::string const unsaid =
      encode_crs({.wkt = "ENGCRS[\"" + name +
                         R"(",EDATUM["d"],CS[Cartesian,2],AXIS["a",southEast],AXIS["b",southWest],)"
                         R"(LENGTHUNIT["metre",1]])"},
                 keys);
  EXPECT_NE(unsaid.find(name), std::string::npos);
  EXPECT_NE(keys.text(key::ProjectedCitation)->find(name), std::string::npos);
}

}  // namespace
}  // namespace terrazzo::geo
