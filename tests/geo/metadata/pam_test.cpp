// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/pam.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

Pam parse(std::string const& body, std::vector<DType> const& dtypes = {DType::f32}) {
  return parse_pam("<PAMDataset>" + body + "</PAMDataset>", dtypes);
}

TEST(Pam, GivesTransformSrsAndMetadata) {
  auto const pam = parse(
      "<SRS dataAxisToSRSAxisMapping='2,1'>EPSG:4326</SRS><GeoTransform> 1.0, 2.0, 0, 3.0, 0, -2.0e0</GeoTransform>"
      "<Metadata><MDI key='A'>1</MDI><MDI key='empty'/></Metadata>"
      "<Metadata domain='D'><MDI key='A'>2</MDI></Metadata>"
      "<Metadata domain='xml:X' format='xml'><a b='c'/></Metadata>");
  EXPECT_EQ(pam.srs, "EPSG:4326");
  ASSERT_TRUE(pam.transform);
  EXPECT_EQ(*pam.transform, (Transform{1, 2, 0, 3, 0, -2}));
  EXPECT_EQ(*pam.metadata.find("A"), "1");
  EXPECT_EQ(pam.metadata.find("empty"), nullptr);
  EXPECT_EQ(*pam.metadata.find("A", "D"), "2");
  EXPECT_EQ(pam.metadata.xml_domains.at("xml:X"), "<a b=\"c\"/>");
}

TEST(Pam, NeedsSixValuesForATransform) {
  EXPECT_FALSE(parse("<GeoTransform>1,2,3,4,5</GeoTransform>").transform);
  EXPECT_FALSE(parse("<GeoTransform>1,2,3,4,5,6,7</GeoTransform>").transform);
}

TEST(Pam, DescribesBands) {
  auto const pam = parse(
      "<PAMRasterBand band='2'><Description>d</Description><NoDataValue>-5</NoDataValue><UnitType>m</UnitType>"
      "<Offset>7</Offset><ColorInterp>Red</ColorInterp><Minimum>1</Minimum><Maximum>2</Maximum><Mean>1.5</Mean>"
      "<StandardDeviation>0.5</StandardDeviation>"
      "<CategoryNames><Category>water</Category><Category/></CategoryNames>"
      "<ColorTable><Entry c1='1' c2='2' c3='300' c4='4'/><Entry/></ColorTable>"
      "<Metadata><MDI key='K'>v</MDI></Metadata></PAMRasterBand>"
      "<PAMRasterBand band='3'><Description>outside</Description></PAMRasterBand>",
      {DType::u8, DType::i16});
  ASSERT_EQ(pam.bands.size(), 2U);
  EXPECT_TRUE(pam.bands[0].description.empty());
  auto const& band = pam.bands[1];
  EXPECT_EQ(band.description, "d");
  EXPECT_EQ(band.nodata->value, -5);
  EXPECT_EQ(band.unit, "m");
  EXPECT_EQ(band.scale, 1.0);
  EXPECT_EQ(band.offset, 7.0);
  EXPECT_EQ(band.color_name, "Red");
  EXPECT_EQ(band.statistics.maximum, 2.0);
  EXPECT_EQ(band.statistics.stddev, 0.5);
  EXPECT_EQ(band.category_names, (std::vector<std::string>{"water", ""}));
  ASSERT_EQ(band.color_table.size(), 2U);
  EXPECT_EQ(band.color_table[0].blue, 255);
  EXPECT_EQ(band.color_table[0].alpha, 4);
  EXPECT_EQ(band.color_table[1].alpha, 255);
  EXPECT_EQ(*band.metadata.find("K"), "v");
}

TEST(Pam, TakesTheBitsOfANodataValueOverItsText) {
  auto const pam = parse(
      "<PAMRasterBand band='1'><NoDataValue le_hex_equiv='9A9999999999B93F'>0.1000001</NoDataValue></PAMRasterBand>",
      {DType::f64});
  EXPECT_EQ(pam.bands[0].nodata->value, 0.1);
  auto const bad = parse("<PAMRasterBand band='1'><NoDataValue le_hex_equiv='9A'>0.25</NoDataValue></PAMRasterBand>");
  EXPECT_EQ(bad.bands[0].nodata->value, 0.25);
}

// As in GDAL, which rounds the value of the tag and not this one.
TEST(Pam, DoesNotRoundNodataToFloat) {
  auto const nodata_of = [](std::string const& element, DType dtype) {
    return *parse("<PAMRasterBand band='1'>" + element + "</PAMRasterBand>", {dtype}).bands[0].nodata;
  };
  std::string const beyond = "<NoDataValue le_hex_equiv='F8AF4DE5FFFFEF47'>3.4028235E+38</NoDataValue>";
  EXPECT_EQ(nodata_of(beyond, DType::f32).value, 3.4028235e38);
  EXPECT_FALSE(nodata_of(beyond, DType::f32).representable);
  EXPECT_TRUE(nodata_of(beyond, DType::f64).representable);
  EXPECT_FALSE(nodata_of("<NoDataValue>-1e39</NoDataValue>", DType::f32).representable);
  Nodata const within = nodata_of("<NoDataValue>-3.40282346600000E+38</NoDataValue>", DType::f32);
  EXPECT_EQ(within.value, -3.402823466e38);
  EXPECT_TRUE(within.representable);
  EXPECT_EQ(nodata_of("<NoDataValue>0.1</NoDataValue>", DType::f32).value, 0.1);
}

TEST(Pam, NamesClassesByTheAttributeTable) {
  auto const pam = parse(
      "<PAMRasterBand band='1'><GDALRasterAttributeTable>"
      "<FieldDefn index='0'><Name>Value</Name><Type>0</Type><Usage>5</Usage></FieldDefn>"
      "<FieldDefn index='1'><Name>Class</Name><Type>2</Type><Usage>2</Usage></FieldDefn>"
      "<Row index='0'><F>2</F><F>forest</F></Row><Row index='1'><F>-1</F><F>no</F></Row>"
      "<Row index='2'><F>1e9</F><F>no</F></Row></GDALRasterAttributeTable></PAMRasterBand>");
  EXPECT_EQ(pam.bands[0].category_names, (std::vector<std::string>{"", "", "forest"}));
}

TEST(Pam, ReadsGroundControlPoints) {
  auto const pam = parse(
      "<GCPList Projection='EPSG:32631'><GCP Id='a' Pixel='1' Line='2' X='3' Y='4' Z='5'/>"
      "<GCP Pixel='1' Line='x' X='3' Y='4'/></GCPList>");
  ASSERT_EQ(pam.gcps.size(), 1U);
  EXPECT_EQ(pam.gcps[0].id, "a");
  EXPECT_EQ(pam.gcps[0].row, 2);
  EXPECT_EQ(pam.gcps[0].z, 5);
  EXPECT_EQ(pam.gcp_srs, "EPSG:32631");
}

TEST(Pam, ReadsTheTransformOfArcGis) {
  auto const pam = parse(
      "<Metadata domain='xml:ESRI' format='xml'><GeodataXform><PolynomialOrder>1</PolynomialOrder>"
      "<SpatialReference><WKT>LOCAL_CS[\"x\"]</WKT></SpatialReference>"
      "<CoeffX><Double>100</Double><Double>2</Double><Double>0</Double></CoeffX>"
      "<CoeffY><Double>200</Double><Double>0</Double><Double>2</Double></CoeffY></GeodataXform></Metadata>");
  ASSERT_TRUE(pam.transform);
  EXPECT_EQ(*pam.transform, (Transform{99, 2, 0, 201, 0, -2}));
  EXPECT_EQ(pam.srs, "LOCAL_CS[\"x\"]");
}

TEST(Pam, IsEmptyWhenItDoesNotParse) {
  auto const pam = parse_pam("<PAMDataset><SRS>", {DType::u8, DType::u8});
  EXPECT_TRUE(pam.srs.empty());
  EXPECT_EQ(pam.bands.size(), 2U);
}

std::string band_with_a_class_of(int band, int value) {
  return "<PAMRasterBand band='" + std::to_string(band) +
         "'><GDALRasterAttributeTable><FieldDefn><Usage>5</Usage></FieldDefn><FieldDefn><Usage>2</Usage></FieldDefn>"
         "<Row><F>" +
         std::to_string(value) + "</F><F>x</F></Row></GDALRasterAttributeTable></PAMRasterBand>";
}

TEST(Pam, ListsNoMoreNamesOfSparseTablesThanItMay) {
  std::string xml = "<PAMDataset>";
  for (int band = 1; band <= 20; ++band) { xml += band_with_a_class_of(band, 65535); }
  xml += band_with_a_class_of(21, 0);
  auto const pam = parse_pam(xml + "</PAMDataset>", std::vector(21, DType::u16));
  EXPECT_TRUE(pam.left_out_names);
  EXPECT_EQ(pam.bands[0].category_names.size(), 65536U);
  EXPECT_EQ(pam.bands[0].category_names.back(), "x");
  EXPECT_EQ(pam.bands[15].category_names.size(), 65536U);
  EXPECT_TRUE(pam.bands[16].category_names.empty());
  EXPECT_TRUE(pam.bands[20].category_names.empty());
  EXPECT_FALSE(
      parse_pam("<PAMDataset>" + band_with_a_class_of(1, 65535) + "</PAMDataset>", {DType::u16}).left_out_names);
}

}  // namespace
}  // namespace terrazzo::geo
