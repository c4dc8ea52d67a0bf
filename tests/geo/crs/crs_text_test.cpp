// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/crs_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::geo {
namespace {

std::string geogcs(std::string const& more = "") {
  return R"(GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],)"
         R"(UNIT["degree",0.0174532925199433])" +
         more + "]";
}
std::string with_proj4(std::string const& text) { return geogcs(",EXTENSION[\"PROJ4\",\"" + text + "\"]"); }

TEST(CrsText, TakesCodes) {
  for (char const* text : {"EPSG:4326", " epsg:4326\n", "ESRI:102100", "IAU_2015:30100", "OGC:CRS84", "EPSG:2393+5717",
                           "ESRI:103668+EPSG:5703"}) {
    EXPECT_TRUE(is_crs_definition(text)) << text;
  }
  for (char const* text : {"", " ", "EPSG", "EPSG:", ":4326", "EPSG:4326:1", "EPSG:4326 ", "EPSG:43 26", "EPSG:/etc/x",
                           "EPSG:1+", "EPSG:1+2+3", "EPSG:1+EPSG:2+EPSG:3", "AUTO:42001,9,0", "EPSG:4326@2010"}) {
    EXPECT_EQ(is_crs_definition(text), std::string(text) == "EPSG:4326 ") << text;
  }
}

TEST(CrsText, TakesUrnsOfCrsOnly) {
  EXPECT_TRUE(is_crs_definition("urn:ogc:def:crs:EPSG::4326"));
  EXPECT_TRUE(is_crs_definition("urn:ogc:def:crs,crs:EPSG::4979,crs:EPSG::5717"));
  EXPECT_TRUE(is_crs_definition("urn:x-ogc:def:crs:EPSG::4326"));
  EXPECT_FALSE(is_crs_definition("urn:ogc:def:coordinateOperation:EPSG::1671"));
  EXPECT_FALSE(is_crs_definition("urn:ogc:def:crs:/etc/passwd::4326"));
  EXPECT_FALSE(is_crs_definition("urn:ogc:def:crs:EPSG:: +init=x:y"));
}

TEST(CrsText, TakesWktOfCrs) {
  EXPECT_TRUE(is_crs_definition(geogcs()));
  EXPECT_TRUE(is_crs_definition(" \n" + geogcs() + "\n"));
  EXPECT_TRUE(
      is_crs_definition("geogcs [\"a\",DATUM[\"b\",SPHEROID[\"c\",1,2]],TIMEEXTENT[2013-01-01,2014-01-01T00:00:00Z]]"));
  EXPECT_TRUE(is_crs_definition("PROJCS[\"+init=epsg:32633 +proj=utm\"," + geogcs() + "]")) << "a name is a name";
  for (char const* text : {"GEOGCS", "GEOGCS[", "GEOGCS[\"a\"", "GEOGCS[\"a]", "GEOGCS[\"a\"]x", "ELLIPSOID[\"a\",1,2]",
                           "CONVERSION[\"a\",METHOD[\"b\"]]", "COORDINATEOPERATION[\"a\"]",
                           "CONCATENATEDOPERATION[\"a\"]", "PROJCS +init=x:y [\"a\"]",
                           "GEOGCS[\xE2\x80\x9C"
                           "a\xE2\x80\x9D]"}) {
    EXPECT_FALSE(is_crs_definition(text)) << text;
  }
}

TEST(CrsText, RefusesWktThatHoldsProjStrings) {
  EXPECT_TRUE(
      is_crs_definition(with_proj4("+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=-0.5 +x_0=1e3 +k=1 +units=m "
                                   "+nadgrids=@null +wktext +no_defs")));
  EXPECT_TRUE(is_crs_definition(with_proj4("+proj=longlat +datum=WGS84 +towgs84=1,2,3 +type=crs")));
  EXPECT_TRUE(is_crs_definition(geogcs(R"(,EXTENSION["PROJ4_GRIDS","@conus,egm96_15.gtx"])")));
  for (char const* text :
       {"+init=a:b", "+proj=utm +init=/tmp/x:y", "+proj=utm +INIT=a:b", "+proj = utm",
        "+proj=longlat +nadgrids=/etc/passwd", "+proj=longlat +nadgrids=conus", "+proj=hgridshift +grids=a",
        "+proj=pipeline +step +proj=noop", "+proj=longlat +geoidgrids=a.gtx", "+proj=defmodel +model=a.json",
        "+proj=tinshift +file=a.json", "+proj=longlat +datum=NAD27", "+proj=/etc/passwd", "+proj=utm +zone=http://host",
        "+title=a"}) {
    EXPECT_FALSE(is_crs_definition(with_proj4(text))) << text;
  }
  EXPECT_FALSE(is_crs_definition(geogcs(R"(,extension["proj4","+init=a:b"])")));
  EXPECT_FALSE(is_crs_definition(geogcs(R"(,EXTENSION[PROJ4,"+init=a:b"])")));
  EXPECT_FALSE(is_crs_definition(geogcs(R"(,EXTENSION["PROJ4_GRIDS","/etc/passwd"])")));
  EXPECT_FALSE(is_crs_definition(geogcs(R"(,EXTENSION["PROJ4_GRIDS","a/../../x"])")));
  EXPECT_FALSE(is_crs_definition(geogcs(R"(,METHOD["PROJ-based operation method: +proj=noop"])")));
}

TEST(CrsText, TakesFilesOfTransformationsByTheirPlainNames) {
  auto const bound = [](std::string const& file) {
    return "BOUNDCRS[SOURCECRS[" + geogcs() + "],TARGETCRS[" + geogcs() +
           "],ABRIDGEDTRANSFORMATION[\"a\",METHOD[\"NTv2\"],PARAMETERFILE[\"b\",\"" + file + "\"]]]";
  };
  EXPECT_TRUE(is_crs_definition(bound("us_noaa_conus.tif")));
  for (char const* file : {"/etc/passwd", "../x", "a/b", "http://127.0.0.1/x", "~/x", "C:\\x"}) {
    EXPECT_FALSE(is_crs_definition(bound(file))) << file;
  }
}

TEST(CrsText, TakesProjjsonOfCrs) {
  EXPECT_TRUE(is_crs_definition(R"({"type":"GeographicCRS","name":"a"})"));
  EXPECT_TRUE(
      is_crs_definition(R"( { "$schema" : "x", "name":"a \" type", "datum":{"type":"Datum"}, "type" : "BoundCRS" } )"));
  for (char const* text :
       {R"({"type":"Transformation"})", R"({"name":"a"})", R"({"datum":{"type":"GeographicCRS"}})",
        R"({"type":"GeographicCRS","type":"Conversion"})", R"({"typ\u0065":"Conversion","type":"aCRS"})",
        R"({"type":"GeographicCRS")", R"({"type":"GeographicCRS"}})", R"({"type":["GeographicCRS"]})",
        R"({"type":"GeographicCRS)", "{\"type\":\"GeographicCRS\\", "{"}) {
    EXPECT_FALSE(is_crs_definition(text)) << text;
  }
}

TEST(CrsText, RefusesEverythingElse) {
  for (char const* text :
       {"+proj=utm +zone=32", "proj=utm", "+init=epsg:4326", "init=epsg:4326", "WGS 84", "/etc/passwd",
        "http://www.opengis.net/def/crs/EPSG/0/4326", "https://epsg.io/4326", "ITRF2014 @ 2025.0", "4326"}) {
    EXPECT_FALSE(is_crs_definition(text)) << text;
  }
  EXPECT_FALSE(
      is_crs_definition(std::string_view("EPSG:43\0"
                                         "26",
                                         10)));
}

TEST(CrsText, RefusesLongAndDeepTexts) {
  std::string deep_wkt, deep_json = R"({"type":"GeographicCRS","a":)";
  for (int i = 0; i < 1000; ++i) { deep_wkt += "GEOGCS["; }
  for (int i = 0; i < 1000; ++i) { deep_json += "["; }
  EXPECT_FALSE(is_crs_definition(deep_wkt + "1" + std::string(1000, ']')));
  EXPECT_FALSE(is_crs_definition(deep_json + std::string(1000, ']') + "}"));
  EXPECT_FALSE(is_crs_definition("GEOGCS[\"" + std::string(1 << 17, 'a') + "\"]"));
}

TEST(CrsText, MakesACrsOfWhatAUserTypes) {
  EXPECT_EQ(typed_crs(" EPSG:4326 "), "EPSG:4326");
  EXPECT_EQ(typed_crs("+proj=utm +zone=32"), "+proj=utm +zone=32 +type=crs");
  EXPECT_EQ(typed_crs("proj=utm zone=32 type=crs"), "proj=utm zone=32 type=crs");
  EXPECT_EQ(typed_crs(geogcs()), geogcs());
  EXPECT_EQ(typed_crs(with_proj4("+proj=longlat +nadgrids=/my/grid.gsb")),
            with_proj4("+proj=longlat +nadgrids=/my/grid.gsb"));
  for (char const* text : {"+init=epsg:4326", "init=a:b", "+INIT=a:b", " + init = a:b", "+proj=utm\n+\tinit\n=a:b",
                           "+title=a +init=a:b"}) {
    EXPECT_EQ(typed_crs(text), "") << text;
  }
  EXPECT_EQ(typed_crs(with_proj4("+proj=utm +init=a:b")), "");
}

TEST(CrsText, TellsNamesFromDefinitions) {
  for (char const* text : {"WGS 84", "ETRS89 / UTM zone 32N + DHHN92 height", "/etc/passwd"}) {
    EXPECT_TRUE(is_crs_name(text)) << text;
  }
  for (char const* text : {"EPSG:4326", "+proj=utm", "proj=utm", "GEOGCS[", "{", "urn:x"}) {
    EXPECT_FALSE(is_crs_name(text)) << text;
  }
}

TEST(CrsText, QuotesALineOfText) {
  EXPECT_EQ(quoted_crs_text(" +proj=utm "), "\"+proj=utm\"");
  EXPECT_LT(quoted_crs_text(std::string(10000, 'x')).size(), 140U);
}

}  // namespace
}  // namespace terrazzo::geo
