// SPDX-License-Identifier: Apache-2.0
#include "tiff/block_padding.hpp"

#include "support/tiff_builder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::TiffBuilder;

TiffBuilder sized(std::uint32_t width, std::uint32_t height) {
  TiffBuilder builder;
  builder.longs(tag::ImageWidth, {width}).longs(tag::ImageLength, {height});
  return builder;
}

TiffBuilder tiled(std::uint32_t width, std::uint32_t height, std::uint32_t tile_width, std::uint32_t tile_height) {
  TiffBuilder builder = sized(width, height);
  builder.longs(tag::TileWidth, {tile_width}).longs(tag::TileLength, {tile_height});
  return builder;
}

Image parsed(TiffBuilder const& builder) {
  std::vector<std::string> warnings;
  return parse_image(builder.directory(), warnings);
}

TEST(UsedBytes, EndWithTheLastPixelInsideTheImage) {
  TiffBuilder builder = tiled(100, 50, 64, 32);
  builder.shorts(tag::BitsPerSample, {16, 16, 16}).shorts(tag::SamplesPerPixel, {3});
  Image const image = parsed(builder);
  EXPECT_EQ(used_bytes(image, 0, 0), image.block_bytes(32));
  EXPECT_EQ(used_bytes(image, 0, 1), 31u * 64 * 6 + 36 * 6) << "columns beyond the width";
  EXPECT_EQ(used_bytes(image, 1, 0), 18u * 64 * 6) << "rows below the image";
  EXPECT_EQ(used_bytes(image, 1, 1), 17u * 64 * 6 + 36 * 6);
  EXPECT_EQ(used_rows(image, 0), 32u);
  EXPECT_EQ(used_rows(image, 1), 18u);
  Image const bits = parsed(tiled(75, 50, 64, 32).shorts(tag::BitsPerSample, {1}));
  EXPECT_EQ(used_bytes(bits, 1, 1), 17u * 8 + 2) << "eleven bits";
  TiffBuilder strips = sized(100, 50);
  strips.longs(tag::RowsPerStrip, {16}).shorts(tag::BitsPerSample, {8});
  EXPECT_EQ(used_bytes(parsed(strips), 3, 0), 200u) << "strips have no padding";
}

TEST(UsedBytes, OfPackedChromaAreWholeUnits) {
  TiffBuilder builder = tiled(35, 37, 64, 64);
  builder.shorts(tag::BitsPerSample, {8, 8, 8}).shorts(tag::SamplesPerPixel, {3});
  builder.shorts(tag::PhotometricInterpretation, {6}).shorts(tag::YCbCrSubSampling, {2, 2});
  Image const image = parsed(builder);
  ASSERT_TRUE(image.has_packed_chroma());
  EXPECT_EQ(used_bytes(image, 0, 0), (18u * 32 + 18) * 6) << "19 rows of units, the last of 18";
}

}  // namespace
}  // namespace terrazzo::tiff
