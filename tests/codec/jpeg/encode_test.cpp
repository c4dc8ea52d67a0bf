// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_JPEG

namespace terrazzo::codec::testing {
namespace {

using tiff::Photometric;

// A format with its tables, which it points into.
struct Tabled {
  Bytes tables;
  EncodeFormat format;
};

Tabled format_of(std::uint32_t samples, Photometric photometric, int quality = 90, std::uint32_t horizontal = 2,
                 std::uint32_t vertical = 2) {
  Tabled tabled{
      {},
      {.block = {.compression = tiff::Compression::jpeg, .samples_per_pixel = samples, .photometric = photometric},
       .quality = quality,
       .chroma_horizontal = horizontal,
       .chroma_vertical = vertical}};
  tabled.tables = make_jpeg_tables(tabled.format);
  tabled.format.block.jpeg_tables = tabled.tables;
  return tabled;
}

// Gentle, so that JPEG does it little harm; different slopes for the samples.
Bytes gentle(BlockShape shape, std::uint32_t samples) {
  Bytes bytes;
  for (std::uint32_t y = 0; y < shape.height_px; ++y) {
    for (std::uint32_t x = 0; x < shape.width_px; ++x) {
      for (std::uint32_t s = 0; s < samples; ++s) {
        bytes.push_back(static_cast<std::byte>((30 + 40 * s + (s == 1 ? y : x) / 2 + y / 3) & 0xFF));
      }
    }
  }
  return bytes;
}

void expect_close(std::span<std::byte const> actual, std::span<std::byte const> expected, int limit) {
  ASSERT_EQ(actual.size(), expected.size());
  int worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<int>(actual[i]) - static_cast<int>(expected[i])));
  }
  EXPECT_LE(worst, limit);
}

TEST(EncodeJpeg, ComesBackCloseForEveryKindOfImage) {
  for (BlockShape const shape : {BlockShape{1, 1}, {7, 9}, {64, 48}}) {
    for (Tabled const& tabled :
         {format_of(1, Photometric::min_is_black), format_of(2, Photometric::min_is_black),
          format_of(3, Photometric::rgb), format_of(4, Photometric::separated), format_of(4, Photometric::rgb),
          format_of(3, Photometric::ycbcr, 90, 1, 1), format_of(3, Photometric::ycbcr, 90, 2, 1),
          format_of(3, Photometric::ycbcr, 90, 2, 2)}) {
      Bytes const samples = gentle(shape, tabled.format.block.samples_per_pixel);
      Bytes const stream = encode(tabled.format, shape, samples);
      Decoded const decoded = decode(tabled.format.block, shape, stream, samples.size());
      ASSERT_EQ(decoded.result.status, TileStatus::ok) << decoded.result.reason;
      EXPECT_EQ(decoded.result.reason, nullptr) << "libjpeg warned";
      expect_close(decoded.bytes, samples, 6);
    }
  }
}

TEST(EncodeJpeg, LeavesTheQuantisationTablesToTheTag) {
  auto const has_marker = [](Bytes const& stream, unsigned marker) {
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
      if (stream[i] == std::byte{0xFF} && static_cast<unsigned>(stream[i + 1]) == marker) { return true; }
    }
    return false;
  };
  constexpr unsigned kQuantisation = 0xDB, kHuffman = 0xC4, kJfif = 0xE0, kAdobe = 0xEE;
  Tabled const tabled = format_of(3, Photometric::ycbcr);
  EXPECT_TRUE(has_marker(tabled.tables, kQuantisation));
  Bytes const stream = encode(tabled.format, {64, 48}, gentle({64, 48}, 3));
  EXPECT_FALSE(has_marker(stream, kQuantisation));
  EXPECT_TRUE(has_marker(stream, kHuffman));
  EXPECT_FALSE(has_marker(stream, kJfif));
  EXPECT_FALSE(has_marker(stream, kAdobe));
  EncodeFormat untabled = tabled.format;
  untabled.block.jpeg_tables = {};
  EXPECT_NE(decode(untabled.block, {64, 48}, stream, 64 * 48 * 3).result.status, TileStatus::ok);
}

TEST(EncodeJpeg, IsReadByLibtiffAsByUs) {
  if (!LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not here"; }
  BlockShape const shape{64, 48};
  for (Tabled const& tabled : {format_of(1, Photometric::min_is_black), format_of(3, Photometric::rgb),
                               format_of(4, Photometric::rgb), format_of(4, Photometric::separated)}) {
    Bytes const samples = gentle(shape, tabled.format.block.samples_per_pixel);
    Bytes const stream = encode(tabled.format, shape, samples);
    Decoded const ours = decode(tabled.format.block, shape, stream, samples.size());
    EXPECT_EQ(decode_by_libtiff(tabled.format, shape, stream), ours.bytes);
  }
}

TEST(EncodeJpeg, ColoursOfYcbcrAreReadByLibtiffAsByUs) {
  if (!LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not here"; }
  BlockShape const shape{64, 48};
  for (auto const& [horizontal, vertical] : {std::pair{1U, 1U}, {2U, 1U}, {2U, 2U}}) {
    Tabled const tabled = format_of(3, Photometric::ycbcr, 90, horizontal, vertical);
    Bytes const samples = gentle(shape, 3);
    Bytes const stream = encode(tabled.format, shape, samples);
    Decoded const ours = decode(tabled.format.block, shape, stream, samples.size());
    OneTileTiff const file(tabled.format, shape, stream);
    LibtiffDecoder decoder = file.open();
    Bytes rgba(std::size_t{64} * 48 * 4);
    tile::TileResult const result = decoder.decode_rgba_block(0, 0, shape, rgba);
    ASSERT_EQ(result.status, TileStatus::ok) << decoder.messages();
    Bytes rgb;
    for (std::size_t i = 0; i < rgba.size(); i += 4) { rgb.insert(rgb.end(), {rgba[i], rgba[i + 1], rgba[i + 2]}); }
    expect_close(rgb, ours.bytes, 1);
  }
}

TEST(EncodeJpeg, GetsSmallerWithLowerQualityAndCoarserChroma) {
  BlockShape const shape{128, 128};
  Bytes const samples = random_bytes(128 * 128 * 3, 6);
  auto const size = [&](int quality, std::uint32_t horizontal, std::uint32_t vertical) {
    return encode(format_of(3, Photometric::ycbcr, quality, horizontal, vertical).format, shape, samples).size();
  };
  EXPECT_LT(size(50, 2, 2), size(90, 2, 2));
  EXPECT_LT(size(75, 2, 2), size(75, 2, 1));
  EXPECT_LT(size(75, 2, 1), size(75, 1, 1));
}

TEST(EncodeJpeg, StaysWithinItsBoundForNoiseAtFullQuality) {
  Tabled const tabled = format_of(3, Photometric::ycbcr, 100, 1, 1);
  static_cast<void>(encode(tabled.format, {256, 256}, random_bytes(256 * 256 * 3, 2)));
}

TEST(EncodeJpeg, GivesTheSameBytesEveryTime) {
  Tabled const tabled = format_of(3, Photometric::ycbcr);
  expect_independent_of_history(tabled.format, {format_of(3, Photometric::rgb, 30).format}, {64, 48});
}

TEST(EncodeJpeg, RefusesWhatItCannotHold) {
  auto const refuse = find_encoder(tiff::Compression::jpeg)->refuse;
  EncodeFormat const good{.block = {.compression = tiff::Compression::jpeg}};
  EXPECT_EQ(refuse(good), "");
  EncodeFormat format = good;
  format.block.bits_per_sample = 16;
  EXPECT_NE(refuse(format), "");
  format = good;
  format.block.samples_per_pixel = 5;
  EXPECT_NE(refuse(format), "");
  format = good;
  format.quality = 101;
  EXPECT_NE(refuse(format), "");
  format = good;
  format.block.photometric = Photometric::ycbcr;
  EXPECT_NE(refuse(format), "") << "one sample is no YCbCr";
  format.block.samples_per_pixel = 3;
  EXPECT_EQ(refuse(format), "");
  format.chroma_vertical = 4;
  EXPECT_NE(refuse(format), "");
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
