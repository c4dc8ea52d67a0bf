// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/color.hpp"

#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

using testing::TiffBuilder;
namespace tag = tiff::tag;

struct Case {
  std::vector<std::uint16_t> photometric, extra_samples;
  std::size_t bands;
  std::vector<std::string> names;
};

Info info_of(std::size_t bands, std::uint32_t bits) {
  Info info;
  info.bands.resize(bands);
  info.layout.bits_per_sample = bits;
  return info;
}

std::vector<std::string> names_of(Info const& info) {
  std::vector<std::string> names;
  for (auto const& band : info.bands) { names.push_back(band.color_name); }
  return names;
}

class BandColors : public ::testing::TestWithParam<Case> {};

TEST_P(BandColors, FollowPhotometricAndExtraSamples) {
  auto const& wanted = GetParam();
  TiffBuilder tiff;
  tiff.shorts(tag::SamplesPerPixel, {static_cast<std::uint16_t>(wanted.bands)});
  if (!wanted.photometric.empty()) { tiff.shorts(tag::PhotometricInterpretation, wanted.photometric); }
  if (!wanted.extra_samples.empty()) { tiff.shorts(tag::ExtraSamples, wanted.extra_samples); }
  Info info = info_of(wanted.bands, 8);
  describe_color(tiff.directory(), info);
  EXPECT_EQ(names_of(info), wanted.names);
}

INSTANTIATE_TEST_SUITE_P(
    All, BandColors,
    ::testing::Values(Case{{1}, {}, 1, {"gray"}}, Case{{}, {}, 1, {"gray"}},
                      Case{{1}, {}, 3, {"gray", "undefined", "undefined"}}, Case{{1}, {2}, 2, {"gray", "alpha"}},
                      Case{{1}, {0, 2}, 3, {"gray", "undefined", "alpha"}}, Case{{2}, {}, 3, {"red", "green", "blue"}},
                      Case{{2}, {}, 4, {"red", "green", "blue", "undefined"}},
                      Case{{2}, {1}, 4, {"red", "green", "blue", "alpha"}},
                      Case{{2}, {2}, 5, {"red", "green", "blue", "alpha", "undefined"}},
                      Case{{2}, {0}, 4, {"red", "green", "blue", "undefined"}},
                      Case{{5}, {}, 4, {"cyan", "magenta", "yellow", "black"}},
                      Case{{5}, {1}, 5, {"cyan", "magenta", "yellow", "black", "alpha"}},
                      Case{{6}, {}, 3, {"ycbcr_y", "ycbcr_cb", "ycbcr_cr"}}, Case{{3}, {}, 1, {"gray"}},
                      Case{{8}, {}, 3, {"undefined", "undefined", "undefined"}},
                      Case{{65000}, {}, 2, {"undefined", "undefined"}}));

TEST(Color, TellsAlphaThatIsMultipliedIntoTheColours) {
  for (std::uint16_t const kind : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}}) {
    TiffBuilder tiff;
    tiff.shorts(tag::SamplesPerPixel, {4})
        .shorts(tag::PhotometricInterpretation, {2})
        .shorts(tag::ExtraSamples, {kind});
    Info info = info_of(4, 8);
    describe_color(tiff.directory(), info);
    for (std::size_t band = 0; band < 3; ++band) { EXPECT_TRUE(info.bands[band].metadata.domains.empty()); }
    auto const* const said = info.bands[3].metadata.find("ALPHA", "IMAGE_STRUCTURE");
    ASSERT_EQ(said != nullptr, kind == 1);
    if (said != nullptr) { EXPECT_EQ(*said, "PREMULTIPLIED"); }
  }
}

TEST(Color, AlphaMasksGrayOrThreeColoursOfWholeNumbers) {
  for (std::size_t const bands : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}}) {
    bool const picture = bands == 2 || bands == 4;
    EXPECT_EQ(last_alpha_masks_others(bands, DType::u8), picture) << bands;
    EXPECT_EQ(last_alpha_masks_others(bands, DType::u16), picture) << bands;
    for (DType const other : {DType::i8, DType::i16, DType::u32, DType::f32, DType::f64}) {
      EXPECT_FALSE(last_alpha_masks_others(bands, other)) << bands << ", " << to_string(other);
    }
  }
}

TEST(Color, OfConvertedImagesIsRgbWithAlpha) {
  TiffBuilder tiff;
  tiff.shorts(tag::SamplesPerPixel, {4}).shorts(tag::PhotometricInterpretation, {5});
  Info info = info_of(4, 8);
  info.layout.source_color_space = "CMYK";
  describe_color(tiff.directory(), info);
  EXPECT_EQ(names_of(info), (std::vector<std::string>{"red", "green", "blue", "alpha"}));
}

TEST(Color, OfJpegInYCbCrIsRgb) {
  TiffBuilder tiff;
  tiff.shorts(tag::SamplesPerPixel, {4}).shorts(tag::PhotometricInterpretation, {6}).shorts(tag::ExtraSamples, {2});
  Info info = info_of(4, 8);
  info.layout.source_color_space = "YCbCr";
  info.layout.compression = 7;
  describe_color(tiff.directory(), info);
  EXPECT_EQ(names_of(info), (std::vector<std::string>{"red", "green", "blue", "alpha"}));
}

TEST(Color, OfOneBitIsAlwaysAPalette) {
  Info info = info_of(1, 1);
  describe_color(TiffBuilder().shorts(tag::PhotometricInterpretation, {1}).directory(), info);
  EXPECT_EQ(info.bands[0].color_name, "palette");
  ASSERT_EQ(info.bands[0].color_table.size(), 2U);
  EXPECT_EQ(info.bands[0].color_table[1].red, 255);
}

TEST(Color, OfMinIsWhiteIsAnInvertedPalette) {
  Info info = info_of(2, 4);
  describe_color(
      TiffBuilder().shorts(tag::PhotometricInterpretation, {0}).shorts(tag::SamplesPerPixel, {2}).directory(), info);
  auto const& table = info.bands[0].color_table;
  ASSERT_EQ(table.size(), 16U);
  EXPECT_EQ(table[0].green, 255);
  EXPECT_EQ(table[1].green, 238);
  EXPECT_EQ(table[15].green, 0);
  EXPECT_EQ(info.bands[0].color_name, "palette");
  EXPECT_EQ(info.bands[1].color_name, "undefined");
  EXPECT_TRUE(info.bands[1].color_table.empty());

  Info deep = info_of(1, 32);
  describe_color(TiffBuilder().shorts(tag::PhotometricInterpretation, {0}).directory(), deep);
  EXPECT_TRUE(deep.bands[0].color_table.empty());
}

TEST(Color, TableComesFromTheMapWithNodataTransparent) {
  TiffBuilder tiff;
  tiff.shorts(tag::PhotometricInterpretation, {3}).shorts(tag::ColorMap, {0, 257, 0, 514, 0, 771});
  Info info = info_of(1, 1);
  info.bands[0].nodata = Nodata{.value = 1.0};
  describe_color(tiff.directory(), info);
  auto const& table = info.bands[0].color_table;
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1].red, 1);
  EXPECT_EQ(table[1].green, 2);
  EXPECT_EQ(table[1].blue, 3);
  EXPECT_EQ(table[0].alpha, 255);
  EXPECT_EQ(table[1].alpha, 0);
}

TEST(Color, MapOfTheWrongLengthIsIgnored) {
  TiffBuilder tiff;
  tiff.shorts(tag::PhotometricInterpretation, {3}).shorts(tag::ColorMap, {0, 257, 0, 514, 0});
  Info info = info_of(1, 8);
  describe_color(tiff.directory(), info);
  EXPECT_TRUE(info.bands[0].color_table.empty());
  EXPECT_EQ(info.bands[0].color_name, "gray");
}

TEST(Color, MapValuesTellHowTheyWereScaled) {
  EXPECT_EQ(color_table_from_map({0, 512, 256}, -1).at(0).green, 2);          // multiples of 256
  EXPECT_EQ(color_table_from_map({0, 514, 257}, -1).at(0).green, 2);          // multiples of 257
  EXPECT_EQ(color_table_from_map({0, 200, 255}, -1).at(0).green, 200);        // never scaled
  EXPECT_EQ(color_table_from_map({1, 65535, 3000}, -1).at(0).green, 255);     // neither: 257
}

TEST(Color, NamesAreGdals) {
  BandInfo band;
  set_color(band, "NIR");
  EXPECT_EQ(band.color, ColorInterpretation::other);
  EXPECT_EQ(band.color_name, "nir");
  set_color(band, "YCbCr_Y");
  EXPECT_EQ(band.color, ColorInterpretation::y);
  set_color(band, "nonsense");
  EXPECT_EQ(band.color, ColorInterpretation::undefined);
  EXPECT_EQ(band.color_name, "undefined");
  EXPECT_EQ(color_from_name("other"), ColorInterpretation::undefined);
}

}  // namespace
}  // namespace terrazzo::geo
