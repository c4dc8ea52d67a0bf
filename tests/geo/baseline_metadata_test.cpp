// SPDX-License-Identifier: Apache-2.0
#include "geo/baseline_metadata.hpp"

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

}  // namespace
}  // namespace terrazzo::geo
