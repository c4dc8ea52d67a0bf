// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/written_tags.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

using Color = ColorInterpretation;

tiff::TagSet image_tags(std::uint16_t photometric = 1, std::uint16_t samples = 1, std::uint16_t extra = 0) {
  tiff::TagSet tags;
  tags.set_short(tiff::tag::BitsPerSample, 8);
  tags.set_short(tiff::tag::Compression, 1);
  tags.set_short(tiff::tag::PhotometricInterpretation, photometric);
  tags.set_short(tiff::tag::SamplesPerPixel, samples);
  if (extra > 0) { tags.set_shorts(tiff::tag::ExtraSamples, std::vector<std::uint16_t>(extra)); }
  return tags;
}

Info round_trip(Metadata const& metadata, std::vector<BandInfo> const& bands = std::vector<BandInfo>(1),
                tiff::TagSet tags = image_tags()) {
  encode_metadata(metadata, bands, tags);
  return described(tags, bands.size());
}

TEST(EncodeMetadata, WritesNothingForNothing) {
  auto tags = image_tags();
  encode_metadata({}, std::vector<BandInfo>(1), tags);
  EXPECT_EQ(tags.values().size(), image_tags().values().size());
}

TEST(EncodeMetadata, KeepsItemsOfAllDomains) {
  Metadata given;
  given.domains[""] = {{"a", "1"}, {"B b", "two\nlines\r\nthree"}, {"c", "<x y=\"&amp;\">'"}, {"d", "  spaced "}};
  given.domains["IMAGERY"] = {{"CLOUDCOVER", "12"}};
  given.domains["odd <domain> \"&\""] = {{"key & <key>", "ÄÖÜ 高さ \xf0\x9f\x8c\x8d"}};
  given.xml_domains["xml:STUFF"] = "<a b=\"1\">text &amp; more</a>";
  given.xml_domains["json:X"] = "{\"a\": [1, 2]}";
  auto const read = round_trip(given).metadata;
  EXPECT_EQ(read.domains, given.domains);
  EXPECT_EQ(read.xml_domains, given.xml_domains);
}

TEST(EncodeMetadata, KeepsItemsOfBands) {
  std::vector<BandInfo> bands(3);
  bands[0].metadata.domains[""] = {{"STATISTICS_MINIMUM", "0.5"}};
  bands[2].metadata.domains["x"] = {{"TIFFTAG_SOFTWARE", "not a tag here"}};
  bands[2].metadata.xml_domains["xml:b"] = "<b/>";
  auto const read = round_trip({}, bands, image_tags(1, 3, 2));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.bands[i].metadata.domains, bands[i].metadata.domains) << i;
    EXPECT_EQ(read.bands[i].metadata.xml_domains, bands[i].metadata.xml_domains) << i;
  }
  EXPECT_EQ(read.bands[0].statistics.minimum, 0.5);
}

TEST(EncodeMetadata, KeepsScaleOffsetUnitAndDescription) {
  std::vector<BandInfo> bands(2);
  bands[0].scale = 0.1;
  bands[0].offset = -1e-300;
  bands[0].has_scale = bands[0].has_offset = true;
  bands[0].unit = "µg/m³";
  bands[0].description = "a <band>";
  bands[1].has_scale = true;
  auto const read = round_trip({}, bands, image_tags(1, 2, 1));
  EXPECT_EQ(read.bands[0].scale, 0.1);
  EXPECT_EQ(read.bands[0].offset, -1e-300);
  EXPECT_EQ(read.bands[0].unit, "µg/m³");
  EXPECT_EQ(read.bands[0].description, "a <band>");
  EXPECT_TRUE(read.bands[1].has_scale);
  EXPECT_FALSE(read.bands[1].has_offset);
}

TEST(EncodeMetadata, PutsBaselineItemsIntoTheirTags) {
  Metadata given;
  given.domains[""] = {{"TIFFTAG_SOFTWARE", "s"}, {"TIFFTAG_XRESOLUTION", "72"}, {"TIFFTAG_UNHEARD_OF", "u"}};
  auto tags = image_tags();
  encode_metadata(given, {}, tags);
  EXPECT_EQ(written(tags).text_value(tiff::tag::Software), "s");
  EXPECT_EQ(written(tags).real_value(tiff::tag::XResolution), 72.0);
  auto const xml = written(tags).text_value(tiff::tag::GDALMetadata);
  EXPECT_EQ(xml, "<GDALMetadata>\n  <Item name=\"TIFFTAG_UNHEARD_OF\">u</Item>\n</GDALMetadata>\n");
}

TEST(EncodeMetadata, LeavesTheRasterTypeToTheKeys) {
  Metadata given;
  given.domains[""] = {{"AREA_OR_POINT", "Point"}};
  auto tags = image_tags();
  encode_metadata(given, {}, tags);
  EXPECT_FALSE(tags.has(tiff::tag::GDALMetadata));
}

TEST(EncodeMetadata, PutsXmpAndIccIntoTheirTags) {
  Metadata given;
  given.xml_domains["xml:XMP"] = "<x:xmpmeta/>";
  given.domains["COLOR_PROFILE"] = {{"SOURCE_ICC_PROFILE", "AAEC/f7/"}};
  auto tags = image_tags();
  encode_metadata(given, {}, tags);
  EXPECT_FALSE(tags.has(tiff::tag::GDALMetadata));
  std::vector<std::byte> profile;
  for (int const value : {0, 1, 2, 253, 254, 255}) { profile.push_back(static_cast<std::byte>(value)); }
  EXPECT_EQ(written(tags).bytes_value(tiff::tag::ICCProfile), profile);
  EXPECT_EQ(described(tags).metadata.xml_domains.at("xml:XMP"), "<x:xmpmeta/>");
}

TEST(EncodeMetadata, RepeatsRpcsOnlyWhereThereIsNoTagForThem) {
  Metadata given;
  given.domains["RPC"] = {{"LINE_OFF", "1"}};
  EXPECT_EQ(round_trip(given).metadata.domains, given.domains);
  auto tags = image_tags();
  tags.set_doubles(tiff::tag::RPCCoefficients, std::vector<double>(92, 1.0));
  encode_metadata(given, {}, tags);
  EXPECT_FALSE(tags.has(tiff::tag::GDALMetadata));
}

TEST(EncodeMetadata, LeavesOutWhatTheFileItselfTells) {
  Metadata given;
  given.domains["IMAGE_STRUCTURE"] = {{"COMPRESSION", "LZW"}, {"OVERVIEW_RESAMPLING", "AVERAGE"}};
  given.domains["DERIVED_SUBDATASETS"] = {{"a", "b"}};
  auto const read = round_trip(given).metadata;
  ASSERT_EQ(read.domains.size(), 1U);
  EXPECT_EQ(read.domains.at("IMAGE_STRUCTURE"), (MetadataItems{{"OVERVIEW_RESAMPLING", "AVERAGE"}}));
}

BandInfo coloured(Color color, std::string name) {
  BandInfo band;
  band.color = color;
  band.color_name = std::move(name);
  return band;
}

TEST(EncodeMetadata, SaysColoursThatTagsDoNotSay) {
  std::vector<BandInfo> const given = {coloured(Color::blue, "blue"), coloured(Color::green, "green"),
                                       coloured(Color::red, "red"), coloured(Color::other, "nir"),
                                       coloured(Color::undefined, "undefined")};
  auto const read = round_trip({}, given, image_tags(2, 5, 2));
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(read.bands[i].color, given[i].color) << i;
    EXPECT_EQ(read.bands[i].color_name, given[i].color_name) << i;
  }
}

TEST(EncodeMetadata, DoesNotRepeatColoursOfTags) {
  std::vector<BandInfo> const rgb = {coloured(Color::red, "red"), coloured(Color::green, "green"),
                                     coloured(Color::blue, "blue")};
  for (auto const photometric : std::vector<std::uint16_t>{2, 6}) {
    auto tags = image_tags(photometric, 3);
    tags.set_short(tiff::tag::Compression, 7);
    encode_metadata({}, rgb, tags);
    EXPECT_FALSE(tags.has(tiff::tag::GDALMetadata)) << photometric;
  }
  auto grey = image_tags();
  encode_metadata({}, {coloured(Color::gray, "gray")}, grey);
  EXPECT_FALSE(grey.has(tiff::tag::GDALMetadata));
}

TEST(EncodeMetadata, SaysThatABandHasNoColour) {
  auto const read = round_trip({}, {coloured(Color::undefined, "undefined")});
  EXPECT_EQ(read.bands[0].color, Color::undefined);
  EXPECT_EQ(round_trip({}, std::vector<BandInfo>(1)).bands[0].color, Color::gray);
}

TEST(EncodeMetadata, MakesUtf8OfOtherText) {
  Metadata given;
  given.domains[""] = {{"a", "H\xf6he"}};
  EXPECT_EQ(*round_trip(given).metadata.find("a"), "Höhe");
}

TEST(EncodeMetadata, RefusesMoreThanReadersTake) {
  Metadata given;
  given.domains[""] = {{"a", std::string(std::size_t{16} << 20, 'x')}};
  auto tags = image_tags();
  EXPECT_EQ(kind_of_failure([&] { encode_metadata(given, {}, tags); }), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::geo
