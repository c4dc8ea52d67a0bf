// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/proj_library.hpp"
#include "support/failure.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::geo {
namespace {

using testing::failure_of;
using testing::kind_of_failure;

class CrsFrom : public ::testing::Test {
 protected:
  void SetUp() override {
    if (proj_api() == nullptr) { GTEST_SKIP() << "PROJ is not installed"; }
    if (!ProjSession().has_database()) { GTEST_SKIP() << "PROJ has no database"; }
  }
};

TEST_F(CrsFrom, FillsEveryFieldOfACode) {
  Crs const crs = Crs::from(" EPSG:32632 ");
  EXPECT_EQ(crs.kind, Crs::Kind::projected);
  EXPECT_EQ(crs.epsg, 32632);
  EXPECT_EQ(crs.name, "WGS 84 / UTM zone 32N");
  EXPECT_TRUE(crs.wkt.starts_with("PROJCRS[")) << crs.wkt;
  EXPECT_TRUE(crs.projjson.starts_with("{")) << crs.projjson;
}

TEST_F(CrsFrom, KnowsCompoundCodesAndOtherAuthorities) {
  Crs const compound = Crs::from("EPSG:25832+5783");
  EXPECT_EQ(compound.kind, Crs::Kind::compound);
  EXPECT_EQ(compound.horizontal_epsg, 25832);
  EXPECT_EQ(compound.vertical_epsg, 5783);
  EXPECT_EQ(Crs::from("OGC:CRS84").kind, Crs::Kind::geographic);
  EXPECT_EQ(Crs::from("urn:ogc:def:crs:EPSG::4326").epsg, 4326);
}

TEST_F(CrsFrom, TakesItsOwnTexts) {
  Crs const crs = Crs::from("EPSG:3035");
  EXPECT_EQ(Crs::from(crs.wkt).epsg, 3035);
  EXPECT_EQ(Crs::from(crs.projjson).epsg, 3035);
  EXPECT_EQ(Crs::from(crs.projjson).wkt, crs.wkt);
}

TEST_F(CrsFrom, TakesProjStringsOfACrs) {
  Crs const utm = Crs::from("+proj=utm +zone=32 +datum=WGS84");
  EXPECT_EQ(utm.kind, Crs::Kind::projected);
  EXPECT_FALSE(utm.wkt.empty());
  EXPECT_EQ(Crs::from("+proj=longlat +ellps=bessel +no_defs +type=crs").kind, Crs::Kind::geographic);
}

TEST_F(CrsFrom, RefusesCodesThatPROJDoesNotHave) {
  for (char const* text : {"EPSG:999999", "EPSG:-1", "NOBODY:4326", "urn:ogc:def:crs:EPSG::999999"}) {
    EXPECT_EQ(kind_of_failure([&] { return Crs::from(text); }), ErrorKind::usage) << text;
  }
}

// These need no PROJ: it never gets the text.
TEST(CrsFromStrangers, RefusesTextsThatOpenFiles) {
  for (char const* text : {
           "+init=/etc/passwd:x",
           "init=epsg:4326",
           "+proj=utm +zone=32 + init = epsg:4326",
           "+proj=longlat +nadgrids=/etc/passwd",
           "+proj=longlat +nadgrids=@/etc/passwd,null",
           "+proj=longlat +geoidgrids=egm96_15.gtx +type=crs",
           "+proj=longlat +datum=/etc/passwd",
           "/etc/passwd",
           "@/etc/passwd",
           "file:///etc/passwd",
           "https://example.com/crs.json",
           R"(GEOGCS["a",DATUM["b",SPHEROID["c",1,2]],EXTENSION["PROJ4","+init=/etc/passwd:x"]])",
           R"(GEOGCS["a",DATUM["b",SPHEROID["c",1,2]],EXTENSION["PROJ4","+proj=longlat +nadgrids=/etc/passwd"]])",
           R"(VERT_CS["a",VERT_DATUM["b",2005,EXTENSION["PROJ4_GRIDS","/etc/passwd"]],UNIT["metre",1]])",
       }) {
    Error const error = failure_of([&] { return Crs::from(text); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_NE(std::string(error.what()).find("self-contained"), std::string::npos) << error.what();
  }
}

TEST(CrsFromStrangers, RefusesOperationsNamesAndOtherTexts) {
  for (std::string const text : {
           "",
           " \n",
           "here",
           "WGS 84",
           "EPSG",
           "4326",
           "+proj=pipeline +step +proj=utm +zone=32 +step +proj=axisswap +order=2,1",
           "+proj=hgridshift +grids=/etc/passwd",
           R"(CONVERSION["a",METHOD["b"]])",
           R"(COORDINATEOPERATION["a"])",
           R"({"type": "Transformation", "name": "a"})",
           R"({"type": "GeographicCRS", "name": "a")",
           R"(PROJCRS["a",CONVERSION["b",METHOD["PROJ-based operation method: +proj=pipeline +step +proj=utm"]]])",
       }) {
    EXPECT_EQ(kind_of_failure([&] { return Crs::from(text); }), ErrorKind::usage) << text;
  }
}

TEST(CrsFromStrangers, RefusesZerosDepthAndLength) {
  std::string deep = R"({"type": "GeographicCRS", "a": )";
  deep.append(5000, '[').append(5000, ']').append("}");
  for (std::string const& text :
       {std::string("EPSG:4326\0+init=x:y", 19), deep, std::string(2 << 20, 'A'), "EPSG:" + std::string(1 << 20, '1'),
        "+proj=utm +zone=" + std::string(1 << 20, '1')}) {
    Error const error = failure_of([&] { return Crs::from(text); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_LT(std::string(error.what()).size(), 400u) << "the message repeats a part of the text";
  }
}

// PROJ decides about these; it has no CRS for them.
TEST_F(CrsFrom, RefusesAPipelineWithoutSteps) {
  for (char const* text : {"+proj=pipeline", "proj=pipeline", "+proj=axisswap", "+proj=", "+proj=nothing"}) {
    EXPECT_EQ(kind_of_failure([&] { return Crs::from(text); }), ErrorKind::usage) << text;
  }
}

}  // namespace
}  // namespace terrazzo::geo
