// SPDX-License-Identifier: Apache-2.0
#include "commands/info_json.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace terrazzo::cli {
namespace {

Info sample() {
  Info info;
  info.width = 4;
  info.height = 3;
  BandInfo band;
  band.dtype = DType::f32;
  band.bits = 32;
  band.color = ColorInterpretation::gray;
  band.color_name = "gray";
  band.nodata = Nodata{.value = std::nan("")};
  band.statistics.minimum = -1;
  info.bands.push_back(band);
  return info;
}

TEST(InfoToJson, HasThePromisedKeys) {
  Json const json = info_to_json("a.tif", sample());
  for (auto const* key : {"file", "width", "height", "bands", "georeference", "layout", "overviews", "pages",
                          "metadata", "files", "warnings"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (auto const* key : {"band", "dtype", "bits", "nodata", "color", "scale", "offset", "unit", "description",
                          "metadata", "statistics", "mask", "color_table_size"}) {
    EXPECT_TRUE(json["bands"][0].contains(key)) << key;
  }
  for (auto const* key : {"transform", "epsg", "vertical_epsg", "name", "wkt", "pixel_is_point", "gcps", "rpc"}) {
    EXPECT_TRUE(json["georeference"].contains(key)) << key;
  }
}

TEST(InfoToJson, WhatIsNotThereIsNull) {
  Json const json = info_to_json("a.tif", sample());
  EXPECT_TRUE(json["georeference"]["transform"].is_null());
  EXPECT_TRUE(json["georeference"]["epsg"].is_null());
  EXPECT_TRUE(json["georeference"]["wkt"].is_null());
  EXPECT_TRUE(json["georeference"]["rpc"].is_null());
  EXPECT_EQ(json["georeference"]["gcps"], Json::array());
}

TEST(InfoToJson, NodataIsExact) {
  Info info = sample();
  EXPECT_EQ(info_to_json("a", info)["bands"][0]["nodata"], "nan");
  info.bands[0].nodata->exact_u64 = 18446744073709551615U;
  EXPECT_EQ(info_to_json("a", info)["bands"][0]["nodata"], 18446744073709551615U);
  info.bands[0].nodata.reset();
  EXPECT_TRUE(info_to_json("a", info)["bands"][0]["nodata"].is_null());
}

TEST(InfoToJson, TransformAndPlaceAreNumbers) {
  Info info = sample();
  info.georeference.transform = {500'000, 10, 0, 4'000'000, 0, -10};
  info.georeference.crs = Crs{.kind = Crs::Kind::projected, .epsg = 32633};
  Json const json = info_to_json("a", info)["georeference"];
  EXPECT_EQ(json["transform"], Json({500'000.0, 10.0, 0.0, 4'000'000.0, 0.0, -10.0}));
  EXPECT_EQ(json["epsg"], 32633);
  EXPECT_EQ(json["kind"], "projected");
}

TEST(InfoToJson, HasBoundsCornersAndCentre) {
  Info info = sample();
  info.georeference.transform = {500'000, 10, 0, 4'000'000, 0, -10};
  Json json = info_to_json("a", info)["georeference"];
  EXPECT_EQ(json["bounds"], Json({500'000.0, 3'999'970.0, 500'040.0, 4'000'000.0}));
  EXPECT_EQ(json["corners"]["lower_left"], Json({500'000.0, 3'999'970.0}));
  EXPECT_EQ(json["center"], Json({500'020.0, 3'999'985.0}));
  EXPECT_TRUE(json["lon_lat"].is_null());  // without a CRS
  info.georeference.transform.reset();
  json = info_to_json("a", info)["georeference"];
  for (auto const* key : {"bounds", "corners", "center", "lon_lat"}) { EXPECT_TRUE(json[key].is_null()) << key; }
}

TEST(InfoToJson, MetadataIsByDomain) {
  Info info = sample();
  info.metadata.domains[""] = {{"k", "1"}};
  info.metadata.domains["EXTRA"] = {{"a", "b"}};
  info.metadata.xml_domains["xml:XMP"] = "<x/>";
  Json const json = info_to_json("a", info)["metadata"];
  EXPECT_EQ(json[""]["k"], "1");
  EXPECT_EQ(json["EXTRA"]["a"], "b");
  EXPECT_EQ(json["xml:XMP"], "<x/>");
}

}  // namespace
}  // namespace terrazzo::cli
