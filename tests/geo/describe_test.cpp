// SPDX-License-Identifier: Apache-2.0
#include "geo/describe.hpp"

#include "geo/key_files.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace terrazzo::geo {
namespace {

using testing::TiffBuilder;
namespace tag = tiff::tag;

Info blank(std::size_t bands = 1, DType dtype = DType::f32) {
  Info info;
  info.width = 100;
  info.height = 50;
  info.bands.resize(bands);
  for (auto& band : info.bands) { band.dtype = dtype; }
  return info;
}

Info described(TiffBuilder const& tiff, Sidecars const& sidecars = {}, std::size_t bands = 1) {
  Info info = blank(bands);
  MemoryBudget budget(std::uint64_t{1} << 30);
  describe(tiff.directory(), sidecars, info, budget);
  return info;
}

// A file as GDAL writes it.
TiffBuilder typical() {
  TiffBuilder tiff;
  tiff.ascii(tag::Software, "x")
      .doubles(tag::ModelPixelScale, {10, 10, 0})
      .doubles(tag::ModelTiepoint, {0, 0, 0, 500, 900, 0});
  KeyFile()
      .code(key::GTModelType, 1)
      .code(key::GTRasterType, 1)
      .code(key::ProjectedCRS, 32631)
      .text(key::GTCitation, "WGS 84 / UTM zone 31N")
      .add_to(tiff);
  tiff.ascii(tag::GDALMetadata,
             "<GDALMetadata><Item name='STATISTICS_MEAN' sample='0'>2.5</Item><Item name='A'>1</Item></GDALMetadata>");
  tiff.ascii(tag::GDALNodata, "-9999");
  return tiff;
}

TEST(Describe, PutsAllPartsTogether) {
  auto const info = described(typical(), {}, 2);
  auto const& georeference = info.georeference;
  ASSERT_TRUE(georeference.transform);
  EXPECT_EQ(georeference.transform->at(0), 500);
  EXPECT_TRUE(georeference.has_raster_type);
  EXPECT_FALSE(georeference.pixel_is_point);
  EXPECT_EQ(georeference.crs->epsg, 32631);
  EXPECT_TRUE(georeference.crs->wkt.empty());
  EXPECT_EQ(*info.metadata.find("AREA_OR_POINT"), "Area");
  EXPECT_EQ(*info.metadata.find("TIFFTAG_SOFTWARE"), "x");
  EXPECT_EQ(*info.metadata.find("A"), "1");
  EXPECT_EQ(info.bands[0].statistics.mean, 2.5);
  EXPECT_FALSE(info.bands[1].statistics.mean);
  EXPECT_EQ(info.bands[1].nodata->value, -9999);
  EXPECT_EQ(info.bands[0].color_name, "gray");
  EXPECT_TRUE(info.warnings.empty());
}

TEST(Describe, LeavesAPlainTiffPlain) {
  auto const info = described(TiffBuilder().shorts(tag::ImageWidth, {100}));
  EXPECT_FALSE(info.georeference.transform);
  EXPECT_FALSE(info.georeference.crs);
  EXPECT_TRUE(info.georeference.gcps.empty());
  EXPECT_TRUE(info.metadata.domains.empty());
  EXPECT_FALSE(info.bands[0].nodata);
}

TEST(Describe, TellsOfBrokenKeysAndGoesOn) {
  TiffBuilder tiff;
  tiff.shorts(tag::GeoKeyDirectory, {1, 1, 0, 9, 1024, 0, 1, 2}).ascii(tag::GDALNodata, "5");
  auto const info = described(tiff);
  EXPECT_FALSE(info.georeference.crs);
  EXPECT_EQ(info.bands[0].nodata->value, 5);
  EXPECT_EQ(info.warnings.size(), 1U);
}

TEST(Describe, UsesTheWorldFileOnlyWithoutATransformOfItsOwn) {
  Sidecars sidecars;
  sidecars.world_file = "1\n0\n0\n-1\n0.5\n9.5\n";
  EXPECT_EQ(described(typical(), sidecars).georeference.transform_source, TransformSource::pixel_scale);
  auto const info = described(TiffBuilder().shorts(tag::ImageWidth, {1}), sidecars);
  EXPECT_EQ(info.georeference.transform_source, TransformSource::world_file);
  EXPECT_EQ(*info.georeference.transform, (std::array<double, 6>{0, 1, 0, 10, 0, -1}));
}

TEST(Describe, MakesControlPointsOfTiepointsWithoutAScale) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelTiepoint, {0, 0, 0, 1, 2, 0, 10, 0, 0, 3, 4, 0});
  auto const info = described(tiff);
  EXPECT_FALSE(info.georeference.transform);
  EXPECT_EQ(info.georeference.gcps.size(), 2U);
}

TEST(Describe, LetsPamWin) {
  Sidecars sidecars;
  sidecars.pam_xml =
      "<PAMDataset><SRS>EPSG:3857</SRS><GeoTransform>1,2,0,3,0,-2</GeoTransform><Metadata><MDI "
      "key='A'>pam</MDI></Metadata>"
      "<PAMRasterBand band='1'><NoDataValue>7</NoDataValue><Description>d</Description><Scale>2</Scale>"
      "<ColorInterp>Red</ColorInterp><Minimum>1</Minimum></PAMRasterBand></PAMDataset>";
  auto const info = described(typical(), sidecars);
  EXPECT_EQ(info.georeference.transform_source, TransformSource::pam);
  EXPECT_EQ(info.georeference.transform->at(1), 2);
  EXPECT_EQ(info.georeference.crs->epsg, 3857);
  EXPECT_EQ(*info.metadata.find("A"), "pam");
  EXPECT_EQ(info.bands[0].nodata->value, 7);
  EXPECT_EQ(info.bands[0].description, "d");
  EXPECT_EQ(info.bands[0].scale, 2);
  EXPECT_TRUE(info.bands[0].has_offset);
  EXPECT_EQ(info.bands[0].color_name, "red");
  EXPECT_EQ(info.bands[0].statistics.minimum, 1.0);
  EXPECT_EQ(info.bands[0].statistics.mean, 2.5);
}

TEST(Describe, MakesAPaletteOfABandWithAColorTableInPam) {
  Sidecars sidecars;
  sidecars.pam_xml =
      "<PAMDataset><PAMRasterBand band='1'><ColorInterp>Red</ColorInterp><ColorTable><Entry c1='9'/></ColorTable>"
      "</PAMRasterBand></PAMDataset>";
  auto const info = described(typical(), sidecars);
  EXPECT_EQ(info.bands[0].color_name, "palette");
  ASSERT_EQ(info.bands[0].color_table.size(), 1U);
  EXPECT_EQ(info.bands[0].color_table[0].red, 9);
}

TEST(Describe, LetsControlPointsOfPamReplaceTheTransform) {
  Sidecars sidecars;
  sidecars.pam_xml =
      "<PAMDataset><GCPList Projection='EPSG:4326'><GCP Id='' Pixel='1' Line='2' X='3' Y='4'/></GCPList></PAMDataset>";
  auto const info = described(typical(), sidecars);
  EXPECT_FALSE(info.georeference.transform);
  ASSERT_EQ(info.georeference.gcps.size(), 1U);
  EXPECT_EQ(info.georeference.crs->epsg, 4326);
}

TEST(Describe, ScalesTheControlPointsOfArcGisByTheResolution) {
  TiffBuilder tiff;
  std::uint32_t const ten[] = {10, 1};
  std::vector<std::byte> rational(8);
  std::memcpy(rational.data(), ten, 8);
  tiff.raw(tag::XResolution, 5, 1, rational).raw(tag::YResolution, 5, 1, rational).shorts(tag::ResolutionUnit, {2});
  Sidecars sidecars;
  sidecars.pam_xml =
      "<PAMDataset><Metadata domain='xml:ESRI' "
      "format='xml'><GeodataXform><SourceGCPs><Double>1</Double><Double>2</Double>"
      "</SourceGCPs><TargetGCPs><Double>30</Double><Double>40</Double></TargetGCPs></GeodataXform></Metadata></"
      "PAMDataset>";
  auto const info = described(tiff, sidecars);
  ASSERT_EQ(info.georeference.gcps.size(), 1U);
  EXPECT_EQ(info.georeference.gcps[0].column, 10);
  EXPECT_EQ(info.georeference.gcps[0].row, 50 - 20);
  EXPECT_EQ(info.georeference.gcps[0].x, 30);
}

TEST(Describe, TakesTheCrsOfArcGisMetadataWhenNothingElseGivesOne) {
  Sidecars sidecars;
  sidecars.esri_xml =
      "<metadata><refSysInfo><RefSystem><refSysID><identCode "
      "code='32631'/></refSysID></RefSystem></refSysInfo></metadata>";
  EXPECT_EQ(described(TiffBuilder().shorts(tag::ImageWidth, {1}), sidecars).georeference.crs->epsg, 32631);
}

TEST(Describe, TurnsTheThirdDimensionIntoScaleAndOffsetUnderAVerticalCrs) {
  TiffBuilder tiff;
  tiff.doubles(tag::ModelPixelScale, {1, 1, 2}).doubles(tag::ModelTiepoint, {0, 0, 3, 10, 20, 100});
  KeyFile(1).code(key::GTModelType, 2).code(key::GeodeticCRS, 4326).code(key::Vertical, 3855).add_to(tiff);
  auto const info = described(tiff);
  EXPECT_EQ(info.bands[0].scale, 2);
  EXPECT_EQ(info.bands[0].offset, 94);
  EXPECT_FALSE(described(typical()).bands[0].has_scale);
}

TEST(Describe, FindsTheWktOfEsriInACitation) {
  TiffBuilder tiff;
  KeyFile()
      .code(key::GTModelType, 32767)
      .text(key::ProjectedCitation, "ESRI PE String = PROJCS[\"mine\"]")
      .add_to(tiff);
  auto const info = described(tiff);
  EXPECT_EQ(info.georeference.crs->kind, Crs::Kind::projected);
  EXPECT_EQ(info.georeference.crs->name, "mine");
}

TEST(Describe, KeepsTheRpcDomainWhenThereIsNoTag) {
  Sidecars sidecars;
  sidecars.pam_xml = "<PAMDataset><Metadata domain='RPC'><MDI key='LINE_OFF'>1</MDI></Metadata></PAMDataset>";
  EXPECT_EQ(described(typical(), sidecars).georeference.rpc, (MetadataItems{{"LINE_OFF", "1"}}));
}

TEST(Describe, TakesMicroseconds) {
  auto const dir = typical().directory();
  auto const start = std::chrono::steady_clock::now();
  constexpr int kTimes = 100;
  for (int i = 0; i < kTimes; ++i) {
    Info info = blank();
    MemoryBudget budget(std::uint64_t{1} << 30);
    describe(dir, {}, info, budget);
  }
  auto const each = (std::chrono::steady_clock::now() - start) / kTimes;
  EXPECT_LT(each, std::chrono::milliseconds(10));  // 20 us measured; the bound only catches a change of kind
}

std::string refusal_of(TiffBuilder const& tiff, Sidecars const& sidecars, std::uint64_t limit_bytes,
                       std::size_t bands = 1) {
  Info info = blank(bands);
  MemoryBudget budget(limit_bytes);
  try {
    describe(tiff.directory(), sidecars, info, budget);
  } catch (Error const& error) {
    // "300 bytes of memory for the texts in the tags are above ...": from the purpose on.
    return error.kind() == ErrorKind::limit ? error.message().substr(error.message().find(" for ") + 5)
                                            : "of another kind";
  }
  return "none";
}

TEST(Describe, CountsWhatItHolds) {
  constexpr std::uint64_t kLimit = 100'000;
  EXPECT_EQ(refusal_of(typical(), {}, kLimit), "none");
  EXPECT_TRUE(refusal_of(typical(), {}, kLimit, 1000).starts_with("the descriptions of the bands"));
  std::string items;
  for (int i = 0; i < 1000; ++i) { items += "<a/>"; }
  Sidecars sidecars;
  sidecars.pam_xml = "<PAMDataset>" + items + "</PAMDataset>";
  EXPECT_TRUE(refusal_of(typical(), sidecars, kLimit).starts_with("the PAM file"))
      << refusal_of(typical(), sidecars, kLimit);
  TiffBuilder text = typical();
  text.ascii(tag::ImageDescription, std::string(50'000, 'a'));
  EXPECT_TRUE(refusal_of(text, {}, kLimit).starts_with("the texts in the tags"));
}

TEST(Describe, TellsOfATextThatIsNoDefinition) {
  Sidecars sidecars;
  sidecars.pam_xml = "<PAMDataset><SRS>+init=/tmp/pipe:x</SRS></PAMDataset>";
  Info const info = described(typical(), sidecars);
  ASSERT_TRUE(info.georeference.crs);
  EXPECT_EQ(info.georeference.crs->name, "+init=/tmp/pipe:x");
  EXPECT_EQ(info.georeference.crs->wkt, "");
  ASSERT_EQ(info.warnings.size(), 1U);
  EXPECT_NE(info.warnings[0].find("+init=/tmp/pipe:x"), std::string::npos);
}

}  // namespace
}  // namespace terrazzo::geo
