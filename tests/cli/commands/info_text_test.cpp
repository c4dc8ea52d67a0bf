// SPDX-License-Identifier: Apache-2.0
#include "commands/info_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace terrazzo::cli {
namespace {

Info sample() {
  Info info;
  info.width = 100;
  info.height = 50;
  info.georeference.transform = {500'000, 10, 0, 4'000'000, 0, -10};
  info.georeference.crs = Crs{.kind = Crs::Kind::projected, .epsg = 32633, .name = "WGS 84 / UTM zone 33N"};
  info.layout.tiled = true;
  info.layout.tile_width = info.layout.tile_height = 512;
  info.layout.compression_name = "deflate";
  info.layout.predictor = 3;
  info.layout.cog = true;
  info.overviews.push_back({.width = 50, .height = 25});
  BandInfo band;
  band.dtype = DType::f32;
  band.bits = 32;
  band.nodata = Nodata{.value = -9999, .text = "-9999"};
  band.description = "height\x1b[2J";
  info.bands.push_back(band);
  return info;
}

std::string text_of(Info const& info) {
  std::ostringstream out;
  print_info(out, "a.tif", info);
  return out.str();
}

TEST(PrintInfo, SaysWhatTheRasterIs) {
  std::string const text = text_of(sample());
  for (auto const* part :
       {"a.tif\n", "100 x 50, 1 band, float32", "EPSG:32633  WGS 84 / UTM zone 33N",
        "500000 .. 501000, 3999500 .. 4000000", "tiles of 512 x 512, deflate, predictor 3, COG", "50 x 25", "-9999"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " not in\n" << text;
  }
}

TEST(PrintInfo, TellsARasterThatIsUpsideDown) {
  Info info = sample();
  EXPECT_EQ(text_of(info).find("south up"), std::string::npos);
  (*info.georeference.transform)[5] *= -1;
  EXPECT_NE(text_of(info).find("(south up)"), std::string::npos);
}

TEST(PrintInfo, ListsCornersAndCentre) {
  std::string const text = text_of(sample());
  EXPECT_NE(text.find("upper left   500000  4000000"), std::string::npos) << text;
  EXPECT_NE(text.find("lower right  501000  3999500"), std::string::npos) << text;
  EXPECT_NE(text.find("center       500500  3999750"), std::string::npos) << text;
}

TEST(PrintInfo, HasTheExtentOfARotatedRasterToo) {
  Info info = sample();
  info.georeference.transform = {0, 3, 4, 0, 4, -3};
  std::string const text = text_of(info);
  EXPECT_NE(text.find("(rotated)"), std::string::npos) << text;
  EXPECT_NE(text.find("extent    0 .. 500, -150 .. 400"), std::string::npos) << text;
}

TEST(PrintInfo, HasNoPlaceWithoutATransformThatCanBeInverted) {
  Info info = sample();
  info.georeference.transform = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(text_of(info).find("corner"), std::string::npos);
  info.georeference.transform.reset();
  EXPECT_EQ(text_of(info).find("corner"), std::string::npos);
}

TEST(PrintInfo, TellsAlphaThatIsMultipliedIntoTheColours) {
  Info info = sample();
  info.bands[0].color = ColorInterpretation::alpha;
  EXPECT_EQ(text_of(info).find("alpha (premultiplied)"), std::string::npos);
  info.bands[0].metadata.domains["IMAGE_STRUCTURE"] = {{"ALPHA", "PREMULTIPLIED"}};
  EXPECT_NE(text_of(info).find("alpha (premultiplied)"), std::string::npos);
}

TEST(PrintInfo, GivesTheFileNoPowerOverTheTerminal) { EXPECT_EQ(text_of(sample()).find('\x1b'), std::string::npos); }

TEST(PrintInfo, ShowsAFewBandsOfMany) {
  Info info = sample();
  info.bands.resize(300, info.bands[0]);
  std::string const text = text_of(info);
  EXPECT_NE(text.find("... and 288 more"), std::string::npos);
  EXPECT_LT(text.size(), 3000U);
}

TEST(PrintMetadata, ListsEveryDomain) {
  Info info = sample();
  info.metadata.domains[""] = {{"AREA_OR_POINT", "Area"}};
  info.bands[0].metadata.domains["EXTRA"] = {{"a", "b"}};
  std::ostringstream out;
  print_metadata(out, info);
  EXPECT_NE(out.str().find("AREA_OR_POINT = Area"), std::string::npos);
  EXPECT_NE(out.str().find("band 1 [EXTRA]\n    a = b"), std::string::npos);
}

}  // namespace
}  // namespace terrazzo::cli
