// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/baseline_metadata.hpp"

#include "geo/written_tags.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

using testing::TiffBuilder;
namespace tag = tiff::tag;

Metadata metadata_of(TiffBuilder const& tiff) {
  MetadataBuilder builder;
  add_baseline_metadata(tiff.directory(), builder);
  return std::move(builder).take();
}

std::vector<std::byte> rational(std::uint32_t numerator, std::uint32_t denominator) {
  std::vector<std::byte> bytes(8);
  std::memcpy(bytes.data(), &numerator, 4);
  std::memcpy(bytes.data() + 4, &denominator, 4);
  return bytes;
}

TEST(BaselineMetadata, HasTextsUnderGdalsNames) {
  TiffBuilder tiff;
  tiff.ascii(tag::ImageDescription, "a view").ascii(tag::Software, "us").ascii(tag::Copyright, "caf\xe9");
  auto const metadata = metadata_of(tiff);
  EXPECT_EQ(*metadata.find("TIFFTAG_IMAGEDESCRIPTION"), "a view");
  EXPECT_EQ(*metadata.find("TIFFTAG_SOFTWARE"), "us");
  EXPECT_EQ(*metadata.find("TIFFTAG_COPYRIGHT"), "caf\xc3\xa9");
  EXPECT_EQ(metadata.find("TIFFTAG_ARTIST"), nullptr);
}

TEST(BaselineMetadata, FormatsResolutionAndItsUnit) {
  TiffBuilder tiff;
  tiff.raw(tag::XResolution, 5, 1, rational(720000, 10000)).raw(tag::YResolution, 5, 1, rational(1, 3));
  tiff.shorts(tag::ResolutionUnit, {2});
  auto const metadata = metadata_of(tiff);
  EXPECT_EQ(*metadata.find("TIFFTAG_XRESOLUTION"), "72");
  EXPECT_EQ(*metadata.find("TIFFTAG_YRESOLUTION"), "0.33333334");
  EXPECT_EQ(*metadata.find("TIFFTAG_RESOLUTIONUNIT"), "2 (pixels/inch)");
  EXPECT_EQ(*metadata_of(TiffBuilder().shorts(tag::ResolutionUnit, {1})).find("TIFFTAG_RESOLUTIONUNIT"),
            "1 (unitless)");
  EXPECT_EQ(*metadata_of(TiffBuilder().shorts(tag::ResolutionUnit, {3})).find("TIFFTAG_RESOLUTIONUNIT"),
            "3 (pixels/cm)");
  EXPECT_EQ(*metadata_of(TiffBuilder().shorts(tag::ResolutionUnit, {9})).find("TIFFTAG_RESOLUTIONUNIT"), "9");
}

TEST(BaselineMetadata, KeepsTheXmpPacketAsADocument) {
  std::vector<std::byte> packet(70'000, std::byte{'x'});
  TiffBuilder tiff;
  tiff.raw(tag::XMLPacket, 1, packet.size(), packet).shorts(tag::MaxSampleValue, {255});
  auto const metadata = metadata_of(tiff);
  EXPECT_EQ(metadata.xml_domains.at("xml:XMP").size(), packet.size());
  EXPECT_EQ(*metadata.find("TIFFTAG_MAXSAMPLEVALUE"), "255");
}

TEST(BoundedText, IsRefusedBeyondTheLimit) {
  auto const dir = TiffBuilder().ascii(tag::Software, "123456789").directory();
  EXPECT_EQ(bounded_text(dir, tag::Software, 10), "123456789");
  EXPECT_FALSE(bounded_text(dir, tag::Software, 9));
  EXPECT_FALSE(bounded_text(dir, tag::Artist, 9));
}

Metadata round_trip(MetadataItems const& items) {
  tiff::TagSet tags;
  tags.set_short(tiff::tag::SamplesPerPixel, 3);
  for (auto const& [key, value] : items) { EXPECT_TRUE(set_baseline_tag(key, value, tags)) << key; }
  MetadataBuilder metadata;
  add_baseline_metadata(written(tags), metadata);
  return std::move(metadata).take();
}

TEST(BaselineMetadata, IsWrittenAsItWasRead) {
  MetadataItems const items = {{"TIFFTAG_DOCUMENTNAME", "name"},
                               {"TIFFTAG_IMAGEDESCRIPTION", "Höhe"},
                               {"TIFFTAG_SOFTWARE", ""},
                               {"TIFFTAG_DATETIME", "2026:01:02 03:04:05"},
                               {"TIFFTAG_ARTIST", "a"},
                               {"TIFFTAG_HOSTCOMPUTER", "b"},
                               {"TIFFTAG_COPYRIGHT", "c"},
                               {"TIFFTAG_XRESOLUTION", "72.5"},
                               {"TIFFTAG_YRESOLUTION", "0.33333334"},
                               {"TIFFTAG_MINSAMPLEVALUE", "0"},
                               {"TIFFTAG_MAXSAMPLEVALUE", "65535"},
                               {"GEO_METADATA", "<x/>"},
                               {"TIFF_RSID", "id"},
                               {"TIFFTAG_RESOLUTIONUNIT", "3 (pixels/cm)"}};
  EXPECT_EQ(round_trip(items).domains.at(""), items);
}

TEST(BaselineMetadata, WritesOneSampleValueForEverySample) {
  tiff::TagSet tags;
  tags.set_short(tiff::tag::SamplesPerPixel, 3);
  ASSERT_TRUE(set_baseline_tag("TIFFTAG_MAXSAMPLEVALUE", "7", tags));
  EXPECT_EQ(written(tags).unsigned_values(tiff::tag::MaxSampleValue, 10), (std::vector<std::uint64_t>{7, 7, 7}));
}

TEST(BaselineMetadata, FindsFractionsForResolutions) {
  for (auto const* value : {"0", "1", "72", "300", "2.54", "118.11024", "4e+09", "0.1", "3.1415927"}) {
    EXPECT_EQ(*round_trip({{"TIFFTAG_XRESOLUTION", value}}).find("TIFFTAG_XRESOLUTION"), value);
  }
}

TEST(BaselineMetadata, LeavesAloneWhatHasNoTagOrDoesNotFit) {
  tiff::TagSet tags;
  for (auto const& [key, value] : MetadataItems{{"TIFFTAG_XMLPACKET", "x"},
                                                {"AREA_OR_POINT", "Area"},
                                                {"TIFFTAG_XRESOLUTION", "-1"},
                                                {"TIFFTAG_XRESOLUTION", "many"},
                                                {"TIFFTAG_XRESOLUTION", "1e10"},
                                                {"TIFFTAG_XRESOLUTION", "nan"},
                                                {"TIFFTAG_MAXSAMPLEVALUE", "65536"},
                                                {"TIFFTAG_MAXSAMPLEVALUE", "x"}}) {
    EXPECT_FALSE(set_baseline_tag(key, value, tags)) << key << value;
  }
  EXPECT_TRUE(tags.values().empty());
}

}  // namespace
}  // namespace terrazzo::geo
