// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/gdal_metadata.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace terrazzo::geo {
namespace {

struct Parsed {
  explicit Parsed(std::string const& items, std::size_t band_count = 1) : infos(band_count) {
    MetadataBuilder builder;
    std::vector<MetadataBuilder> builders(band_count);
    add_gdal_metadata("<GDALMetadata>" + items + "</GDALMetadata>", builder, builders, infos);
    dataset = std::move(builder).take();
    for (auto& band : builders) { bands.push_back(std::move(band).take()); }
  }
  Metadata dataset;
  std::vector<Metadata> bands;
  std::vector<BandInfo> infos;
};

TEST(GdalMetadata, SortsItemsByBandAndDomain) {
  Parsed const parsed(R"(<Item name="A">1</Item><Item name="A" domain="D">2</Item><Item name="A" sample="1">3</Item>)",
                      2);
  EXPECT_EQ(*parsed.dataset.find("A"), "1");
  EXPECT_EQ(*parsed.dataset.find("A", "D"), "2");
  EXPECT_EQ(*parsed.bands[1].find("A"), "3");
  EXPECT_TRUE(parsed.bands[0].domains.empty());
}

TEST(GdalMetadata, SetsTheFieldsThatHaveARole) {
  Parsed const parsed(
      R"(<Item name="SCALE" sample="0" role="scale">0,5</Item><Item name="OFFSET" sample="0" role="offset">-3e2</Item>)"
      R"(<Item name="UNITTYPE" sample="0" role="unittype">m</Item>)"
      R"(<Item name="DESCRIPTION" sample="0" role="description">height</Item>)"
      R"(<Item name="COLORINTERP" sample="0" role="colorinterp">NIR</Item>)");
  auto const& band = parsed.infos[0];
  EXPECT_TRUE(band.has_scale);
  EXPECT_EQ(band.scale, 0.5);
  EXPECT_TRUE(band.has_offset);
  EXPECT_EQ(band.offset, -300);
  EXPECT_EQ(band.unit, "m");
  EXPECT_EQ(band.description, "height");
  EXPECT_EQ(band.color_name, "nir");
  EXPECT_TRUE(parsed.bands[0].domains.empty());
}

TEST(GdalMetadata, LeavesColorsAloneWhereTheyAreKnown) {
  MetadataBuilder dataset;
  std::vector<MetadataBuilder> bands(1);
  std::vector<BandInfo> infos(1);
  std::string const xml =
      R"(<GDALMetadata><Item name="COLORINTERP" sample="0" role="colorinterp">Cyan</Item></GDALMetadata>)";
  infos[0].color = ColorInterpretation::red;
  add_gdal_metadata(xml, dataset, bands, infos, false);
  EXPECT_EQ(infos[0].color, ColorInterpretation::red);
  add_gdal_metadata(xml, dataset, bands, infos);
  EXPECT_EQ(infos[0].color, ColorInterpretation::cyan);
}

TEST(GdalMetadata, KeepsAnUnknownColorAsAnItem) {
  Parsed const parsed(R"(<Item name="COLORINTERP" sample="0" role="colorinterp">shade</Item>)");
  EXPECT_EQ(parsed.infos[0].color, ColorInterpretation::undefined);
  EXPECT_EQ(*parsed.bands[0].find("COLOR_INTERPRETATION"), "shade");
}

TEST(GdalMetadata, UnescapesTwiceAndKeepsUtf8) {
  Parsed const parsed("<Item name=\"A\">&amp;lt;\xc3\xa9&#233;</Item>");
  EXPECT_EQ(*parsed.dataset.find("A"), "<\xc3\xa9\xc3\xa9");
}

TEST(GdalMetadata, KeepsDocumentsWhole) {
  Parsed const parsed(R"(<Item name="d" domain="xml:X"><![CDATA[<a>1</a>]]></Item>)");
  EXPECT_EQ(parsed.dataset.xml_domains.at("xml:X"), "<a>1</a>");
}

TEST(GdalMetadata, LeavesOutWhatHasNoNameNoTextOrNoBand) {
  Parsed const parsed(
      R"(<Item>1</Item><Item name="A"/><Item name="B"></Item><Item name="C">x<b/>y</Item>)"
      R"(<Item name="D" sample="7">1</Item><Item name="E" sample="-2">1</Item><Other name="F">1</Other>)"
      R"(<Item name="G" domain="IMAGE_STRUCTURE">1</Item>)");
  EXPECT_TRUE(parsed.dataset.domains.empty());
  EXPECT_TRUE(parsed.bands[0].domains.empty());
}

TEST(GdalMetadata, IgnoresABrokenDocument) {
  MetadataBuilder dataset;
  std::vector<MetadataBuilder> bands(1);
  std::vector<BandInfo> infos(1);
  for (char const* xml : {"", "x", "<GDALMetadata><Item name='A'>1</Item>", "<Other><Item name='A'>1</Item></Other>"}) {
    add_gdal_metadata(xml, dataset, bands, infos);
  }
  EXPECT_TRUE(dataset.metadata().domains.empty());
}

}  // namespace
}  // namespace terrazzo::geo
