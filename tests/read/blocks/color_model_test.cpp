// SPDX-License-Identifier: Apache-2.0
//
// The formulas are tested in tests/tile/color_test.cpp; here, that blocks are cut into rows and units as they lie.
#include "read/blocks/color_model.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::reading {
namespace {

using tile::TileStatus;

tiff::Image image_of(tiff::Photometric photometric, std::uint32_t samples, std::uint32_t width, std::uint32_t height) {
  tiff::Image image;
  image.width_px = image.block_width_px = width;
  image.height_px = image.block_height_px = height;
  image.blocks_across = image.blocks_down = 1;
  image.samples = samples;
  image.bits = 8;
  image.photometric = photometric;
  image.ycbcr_subsampling = {1, 1};
  return image;
}

std::vector<int> converted(tiff::Image const& image, std::vector<int> const& bytes, std::size_t out_samples) {
  std::vector<std::byte> decoded, out(std::size_t{image.block_width_px} * image.block_height_px * out_samples);
  for (int const b : bytes) { decoded.push_back(static_cast<std::byte>(b)); }
  EXPECT_EQ(convert_block_to_rgb(image, image.block_height_px, decoded, out).status, TileStatus::ok);
  std::vector<int> values;
  for (std::byte const b : out) { values.push_back(static_cast<int>(b)); }
  return values;
}

TEST(ConvertBlock, MakesRgbaOfCmykInBothLayouts) {
  tiff::Image image = image_of(tiff::Photometric::separated, 4, 2, 1);
  std::vector<int> const wanted = {255, 255, 255, 255, 0, 0, 0, 255};
  EXPECT_EQ(converted(image, {0, 0, 0, 0, 9, 9, 9, 255}, 4), wanted);
  image.separate_planes = true;
  EXPECT_EQ(converted(image, {0, 9, 0, 9, 0, 9, 0, 255}, 4), wanted);
}

TEST(ConvertBlock, SkipsInksBeyondCmyk) {
  tiff::Image const image = image_of(tiff::Photometric::separated, 5, 2, 1);
  EXPECT_EQ(converted(image, {0, 0, 0, 0, 77, 9, 9, 9, 255, 77}, 4),
            (std::vector<int>{255, 255, 255, 255, 0, 0, 0, 255}));
}

TEST(ConvertBlock, MakesGrayOfNeutralChroma) {
  tiff::Image image = image_of(tiff::Photometric::ycbcr, 3, 2, 2);
  EXPECT_EQ(converted(image, {10, 128, 128, 20, 128, 128, 30, 128, 128, 40, 128, 128}, 3),
            (std::vector<int>{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40}));
  image.separate_planes = true;
  EXPECT_EQ(converted(image, {10, 20, 30, 40, 128, 128, 128, 128, 128, 128, 128, 128}, 3),
            (std::vector<int>{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40}));
}

TEST(ConvertBlock, ReadsUnitsOfTwoByTwoUpToTheEdge) {
  // 3 x 3 pixels: two units across, two down; a tile, so every byte counts.
  tiff::Image image = image_of(tiff::Photometric::ycbcr, 3, 3, 3);
  image.ycbcr_subsampling = {2, 2};
  image.tiled = true;
  auto const out = converted(image, {1, 2, 4,  5,  128, 128, 3, 99, 6,  99, 128, 128,  //
                                     7, 8, 99, 99, 128, 128, 9, 99, 99, 99, 128, 128},
                             3);
  for (int i = 0; i < 9; ++i) { EXPECT_EQ(out[static_cast<std::size_t>(i) * 3], i + 1); }
}

TEST(ConvertBlock, MakesRgbaOfCieLab) {
  auto const out = converted(image_of(tiff::Photometric::cielab, 3, 1, 1), {0, 0, 0}, 4);
  EXPECT_EQ(out, (std::vector<int>{0, 0, 0, 255}));
}

TEST(ConvertBlock, SaysWhatItCannotDo) {
  std::vector<std::byte> decoded(64), out(64);
  auto const status = [&](tiff::Image const& image) { return convert_block_to_rgb(image, 1, decoded, out); };
  tiff::Image subsampled = image_of(tiff::Photometric::ycbcr, 3, 4, 1);
  subsampled.separate_planes = true;
  subsampled.ycbcr_subsampling = {2, 2};
  EXPECT_EQ(status(subsampled).status, TileStatus::unsupported);
  tiff::Image lab = image_of(tiff::Photometric::cielab, 3, 4, 1);
  lab.separate_planes = true;
  EXPECT_EQ(status(lab).status, TileStatus::unsupported);
  tiff::Image white = image_of(tiff::Photometric::cielab, 3, 4, 1);
  white.white_point = {0, 0};
  EXPECT_EQ(status(white).status, TileStatus::unsupported);
  tiff::Image rgb = image_of(tiff::Photometric::rgb, 3, 4, 1);
  EXPECT_EQ(status(rgb).status, TileStatus::unsupported);
  EXPECT_NE(status(rgb).reason, nullptr);
}

TEST(DropAlpha, MovesRgbToTheFront) {
  std::vector<std::byte> pixels;
  for (int i = 0; i < 12; ++i) { pixels.push_back(static_cast<std::byte>(i)); }
  drop_alpha(pixels);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(pixels[static_cast<std::size_t>(i)], static_cast<std::byte>(i / 3 * 4 + i % 3));
  }
}

// Through the whole engine: CMYK as the user gets it.
TEST(ColourModels, AreConvertedWhileReading) {
  testing::TiffBuilder builder = image<std::uint8_t>(
      {.width = 20, .height = 10, .bands = 4, .rows_per_strip = 3, .compression = kPackBits},
      [](std::uint32_t b, std::uint32_t, std::uint32_t) { return static_cast<std::uint8_t>(b == 3 ? 55 : 0); });
  std::vector<std::byte> bytes = builder.bytes();
  std::uint64_t const at = builder.directory().find(262)->value_offset_bytes;
  bytes[at] = std::byte{5};
  Dataset const dataset = open_memory(bytes);
  ASSERT_EQ(dataset.info().bands.size(), 4u);
  EXPECT_EQ(dataset.info().layout.source_color_space, "CMYK");
  auto const values = values_of<std::uint8_t>(read(dataset, {.window = Window{5, 2, 7, 6}, .threads = 2}));
  for (std::size_t i = 0; i < 7 * 6 * 4; ++i) { ASSERT_EQ(values[i], i < 7 * 6 * 3 ? 200 : 255) << i; }
}

}  // namespace
}  // namespace terrazzo::reading
