// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include "support/raster.hpp"
#include "terrazzo/source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace terrazzo {
namespace {

using testing::Raster;
using testing::raster_builder;
using testing::text_tag;
using Pixel = std::array<int, 4>;

constexpr std::uint16_t kNodataTag = 42113, kPixelScaleTag = 33550, kTiepointTag = 33922;

Pixel pixel(Picture const& picture, std::uint32_t x, std::uint32_t y) {
  std::size_t const i = (std::size_t{y} * picture.width + x) * 4;
  return {picture.rgba.at(i), picture.rgba.at(i + 1), picture.rgba.at(i + 2), picture.rgba.at(i + 3)};
}

Picture preview(testing::TiffBuilder const& builder, PreviewRequest const& request = {}) {
  Raster const raster(builder);
  return make_preview(raster.dataset(), request);
}

// Indices into a colour table: 0 is half blue, 1 red, 9 green, the others black.
Dataset palette_raster(std::uint32_t width, std::uint32_t height, std::vector<std::uint8_t> const& indices) {
  auto builder = raster_builder<std::uint8_t>(width, height, indices, height);
  std::vector<std::uint16_t> map(3 * 256);
  map[1] = 0xffff;
  map[256 + 9] = 0xffff;
  map[2 * 256] = 0x8080;
  builder.shorts(320, map);
  auto bytes = builder.bytes();
  for (std::size_t i = 0; i + 12 < bytes.size(); ++i) {  // PhotometricInterpretation becomes 3, palette
    if (bytes[i] == std::byte{6} && bytes[i + 1] == std::byte{1} && bytes[i + 2] == std::byte{3}) {
      bytes[i + 8] = std::byte{3};
    }
  }
  return open(memory_source(std::move(bytes), "palette"));
}

TEST(MakePreview, CanBeCancelled) {
  std::atomic<bool> const cancel{true};
  try {
    (void)preview(raster_builder<std::uint16_t>(3, 1, {1000, 2000, 3000}, 1), {.cancel = &cancel});
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

TEST(MakePreview, StretchesGrayFromBlackToWhite) {
  auto const picture =
      preview(raster_builder<std::uint16_t>(3, 1, {1000, 2000, 3000}, 1), {.stretch_low = 0, .stretch_high = 100});
  EXPECT_EQ(picture.width, 3U);
  EXPECT_EQ(picture.height, 1U);
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{128, 128, 128, 255}));
  EXPECT_EQ(pixel(picture, 2, 0), (Pixel{255, 255, 255, 255}));
}

TEST(MakePreview, MapsTheRangeAndClampsBeyond) {
  auto const builder = raster_builder<std::int16_t>(5, 1, {-100, 0, 50, 100, 900}, 1);
  auto const picture = preview(builder, {.range_min = 0, .range_max = 100});
  constexpr int kExpected[] = {0, 0, 128, 255, 255};
  for (std::uint32_t x = 0; x < 5; ++x) { EXPECT_EQ(pixel(picture, x, 0)[0], kExpected[x]) << x; }
  EXPECT_EQ(pixel(preview(builder, {.range_min = 0, .range_max = 200, .gamma = 2}), 2, 0)[0], 128);
  // An open end is a percentile.
  EXPECT_EQ(pixel(preview(builder, {.stretch_low = 0, .stretch_high = 100, .range_min = 0}), 4, 0)[0], 255);
}

TEST(MakePreview, RangeAndGammaChangeEightBitColours) {
  auto const builder = raster_builder<std::uint8_t>(2, 1, {10, 20, 30, 40, 50, 60}, 1, 3);
  EXPECT_EQ(pixel(preview(builder, {.range_min = 0, .range_max = 60}), 1, 0), (Pixel{170, 213, 255, 255}));
  EXPECT_EQ(pixel(preview(builder, {.gamma = 0.5}), 1, 0), (Pixel{6, 10, 14, 255}));
}

TEST(MakePreview, RefusesARangeThatShadesCannotHave) {
  auto const builder = raster_builder<std::int16_t>(2, 1, {1, 2}, 1);
  for (PreviewRequest const& request :
       {PreviewRequest{.range_min = 2, .range_max = 2}, PreviewRequest{.range_min = std::nan("")},
        PreviewRequest{.gamma = 0}, PreviewRequest{.gamma = std::nan("")},
        PreviewRequest{.style = PreviewStyle::hillshade, .colormap = "gray", .range_min = 0, .range_max = 1}}) {
    try {
      (void)preview(builder, request);
      FAIL();
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
  }
}

TEST(MakePreview, NodataIsTransparentAndNotStretched) {
  auto builder = raster_builder<float>(3, 1, {-9999, 1, 2}, 1);
  text_tag(builder, kNodataTag, "-9999");
  auto const picture = preview(builder, {.stretch_low = 0, .stretch_high = 100});
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0, 0}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{0, 0, 0, 255}));
}

TEST(MakePreview, ShowsEightBitColoursAsTheyAre) {
  auto const picture = preview(raster_builder<std::uint8_t>(2, 1, {10, 20, 30, 40, 50, 60}, 1, 3));
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{10, 20, 30, 255}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{40, 50, 60, 255}));
}

TEST(MakePreview, ShowsColoursOfFewerBitsFromBlackToWhite) {
  struct Case {
    std::uint16_t bits;
    std::vector<std::uint8_t> bytes;  // two pixels of three samples, packed
    Pixel first, second;
  };
  // Of 1 bit: 1 0 1, 0 1 0; of 4: 0 5 15, 10 1 2; of 5: 31 0 1, 16 8 30.
  for (Case const& c : {Case{1, {0b1010'1000}, {255, 0, 255, 255}, {0, 255, 0, 255}},
                        Case{4, {0x05, 0xfa, 0x12}, {0, 85, 255, 255}, {170, 17, 34, 255}},
                        Case{5, {0xf8, 0x03, 0x04, 0x78}, {255, 0, 8, 255}, {132, 66, 247, 255}}}) {
    testing::TiffBuilder builder;
    auto const offset = static_cast<std::uint32_t>(builder.data(testing::as_bytes(c.bytes)));
    builder.longs(256, {2}).longs(257, {1}).shorts(258, {c.bits, c.bits, c.bits}).shorts(259, {1}).shorts(262, {2});
    builder.longs(273, {offset}).shorts(277, {3}).longs(278, {1});
    builder.longs(279, {static_cast<std::uint32_t>(c.bytes.size())});
    auto const picture = preview(builder);
    EXPECT_EQ(pixel(picture, 0, 0), c.first) << c.bits;
    EXPECT_EQ(pixel(picture, 1, 0), c.second) << c.bits;
  }
}

TEST(MakePreview, StretchesColoursWhenAskedForThem) {
  auto const picture = preview(raster_builder<std::uint8_t>(2, 1, {10, 20, 30, 40, 50, 60}, 1, 3),
                               {.style = PreviewStyle::rgb, .stretch_low = 0, .stretch_high = 100});
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{255, 255, 255, 255}));
}

TEST(MakePreview, BandsChooseTheColours) {
  auto const picture = preview(raster_builder<std::uint8_t>(1, 1, {10, 20, 30}, 1, 3), {.bands = {3, 2, 1}});
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{30, 20, 10, 255}));
}

TEST(MakePreview, DrawsPalettesInTheirColours) {
  auto const picture = make_preview(palette_raster(2, 1, {1, 0}));
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{255, 0, 0, 255}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{0, 0, 128, 255}));
}

TEST(MakePreview, ShrinksPalettesByTheirColours) {
  // Squares of 2 x 2 pixels: all 1, all 9, and one 1 among three 9. The mean of indices 1 and 9 would be a third
// colour.
  auto const small = make_preview(palette_raster(6, 2, {1, 1, 9, 9, 1, 9, 1, 1, 9, 9, 9, 9}), {.max_size = 3});
  ASSERT_EQ(small.width, 3U);
  EXPECT_EQ(pixel(small, 0, 0), (Pixel{255, 0, 0, 255}));
  EXPECT_EQ(pixel(small, 1, 0), (Pixel{0, 255, 0, 255}));
  EXPECT_EQ(pixel(small, 2, 0), (Pixel{64, 191, 0, 255}));
}

TEST(MakePreview, ShrinksPalettesFarWithoutNewColours) {
  // Columns of eight pixels: a picture pixel takes its colours from one column.
  std::vector<std::uint8_t> columns;
  for (std::size_t i = 0; i < std::size_t{64} * 64; ++i) { columns.push_back(i / 8 % 2 == 0 ? 1 : 9); }
  auto const picture = make_preview(palette_raster(64, 64, columns), {.max_size = 8});
  for (std::uint32_t x = 0; x < 8; ++x) {
    EXPECT_EQ(pixel(picture, x, 3), (x % 2 == 0 ? Pixel{255, 0, 0, 255} : Pixel{0, 255, 0, 255})) << x;
  }
}

TEST(MakePreview, IndicesShownAsShadesAreNotAveraged) {
  auto const picture = make_preview(palette_raster(4, 4, {1, 9, 1, 9, 9, 1, 9, 1, 1, 9, 1, 9, 9, 1, 9, 1}),
                                    {.max_size = 2, .style = PreviewStyle::gray, .range_min = 1, .range_max = 9});
  for (std::uint32_t x = 0; x < 2; ++x) {
    int const shade = pixel(picture, x, 0)[0];
    EXPECT_TRUE(shade == 0 || shade == 255) << shade;
  }
}

TEST(MakePreview, ColormapGoesFromItsFirstToItsLastColour) {
  auto const picture =
      preview(raster_builder<float>(2, 1, {0, 1}, 1),
              {.style = PreviewStyle::colormap, .colormap = "viridis", .stretch_low = 0, .stretch_high = 100});
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{0x44, 0x01, 0x54, 255}));
  EXPECT_EQ(pixel(picture, 1, 0), (Pixel{0xfd, 0xe7, 0x25, 255}));
}

TEST(MakePreview, IsNoLargerThanAskedAndKeepsTheShape) {
  auto const picture = preview(raster_builder<float>(100, 40, std::vector<float>(4000, 1.0F), 40), {.max_size = 10});
  EXPECT_EQ(picture.width, 10U);
  EXPECT_EQ(picture.height, 4U);
  auto const thin = preview(raster_builder<float>(500, 1, std::vector<float>(500, 1.0F), 1), {.max_size = 10});
  EXPECT_EQ(thin.height, 1U);
}

TEST(MakePreview, AveragesWhatItShrinks) {
  // A checkerboard of 0 and 2 becomes 1 all over: mid gray, as every pixel is equal.
  std::vector<float> board;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) { board.push_back(static_cast<float>((x + y) % 2 * 2)); }
  }
  auto const picture = preview(raster_builder<float>(8, 8, board, 8), {.max_size = 4});
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{128, 128, 128, 255}));
  EXPECT_EQ(pixel(picture, 3, 2), (Pixel{128, 128, 128, 255}));
}

TEST(MakePreview, HillshadeUsesThePixelSize) {
  // 45 degrees up to the east: heights rise 30 for 30 m. Steeper than 30 degrees, so not exaggerated.
  std::vector<float> heights;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 6; ++x) { heights.push_back(static_cast<float>(30 * x)); }
  }
  auto builder = raster_builder<float>(6, 6, heights, 6);
  builder.doubles(kPixelScaleTag, {30, 30, 0}).doubles(kTiepointTag, {0, 0, 0, 500'000, 4'000'000, 0});
  auto const picture = preview(builder, {.style = PreviewStyle::hillshade, .colormap = "gray"});
  double const expected = 255 * (0.5 + std::sqrt(0.5)) / std::sqrt(2);
  EXPECT_NEAR(pixel(picture, 3, 3)[0], expected, 1);
  EXPECT_EQ(pixel(picture, 3, 3)[0], pixel(picture, 3, 3)[2]);
}

TEST(MakePreview, TintedReliefHasTheColoursOfHeights) {
  std::vector<float> heights(36);
  for (std::size_t i = 0; i < heights.size(); ++i) { heights[i] = static_cast<float>(i / 6); }
  auto const picture =
      preview(raster_builder<float>(6, 6, heights, 6), {.style = PreviewStyle::hillshade, .colormap = "magma"});
  EXPECT_NE(pixel(picture, 2, 3)[0], pixel(picture, 2, 3)[2]);  // not gray
}

TEST(MakePreview, WindowIsAllThatIsShown) {
  auto const picture = preview(raster_builder<std::uint16_t>(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}, 1),
                               {.stretch_low = 0, .stretch_high = 100, .window = Window{2, 1, 2, 1}});
  EXPECT_EQ(picture.width, 2U);
  EXPECT_EQ(pixel(picture, 0, 0)[0], 0);
  EXPECT_EQ(pixel(picture, 1, 0)[0], 255);
}

TEST(MakePreview, RefusesWhatItCannotDraw) {
  auto const one_band = raster_builder<float>(2, 2, {1, 2, 3, 4}, 1);
  EXPECT_THROW((void)preview(one_band, {.style = PreviewStyle::rgb}), Error);
  EXPECT_THROW((void)preview(one_band, {.bands = {2}}), Error);
  EXPECT_THROW((void)preview(one_band, {.max_size = 0}), Error);
  EXPECT_THROW((void)preview(one_band, {.stretch_low = 60, .stretch_high = 40}), Error);
  EXPECT_THROW((void)preview(one_band, {.style = PreviewStyle::colormap, .colormap = "rainbow"}), Error);
}

}  // namespace
}  // namespace terrazzo
