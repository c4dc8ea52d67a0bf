// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_WEBP

#include <webp/encode.h>

namespace terrazzo::codec::testing {
namespace {

constexpr BlockShape kShape{40, 24};

BlockFormat format_of(std::uint32_t samples) {
  return {.compression = tiff::Compression::webp, .samples_per_pixel = samples, .photometric = tiff::Photometric::rgb};
}

Bytes encode_lossless(Bytes const& samples, std::uint32_t channels) {
  std::uint8_t* memory = nullptr;
  auto const* const data = reinterpret_cast<std::uint8_t const*>(samples.data());
  std::size_t const size = channels == 4 ? WebPEncodeLosslessRGBA(data, 40, 24, 160, &memory)
                                         : WebPEncodeLosslessRGB(data, 40, 24, 120, &memory);
  auto const* const first = reinterpret_cast<std::byte const*>(memory);
  Bytes stream(first, first + size);
  WebPFree(memory);
  return stream;
}

Bytes encode_lossy(Bytes const& samples) {
  std::uint8_t* memory = nullptr;
  std::size_t const size =
      WebPEncodeRGB(reinterpret_cast<std::uint8_t const*>(samples.data()), 40, 24, 120, 90.0F, &memory);
  auto const* const first = reinterpret_cast<std::byte const*>(memory);
  Bytes stream(first, first + size);
  WebPFree(memory);
  return stream;
}

// Alpha without zeros: the encoder drops the colours of invisible pixels.
Bytes rgba_picture() {
  Bytes samples = picture(40, 24, 4);
  for (std::size_t i = 3; i < samples.size(); i += 4) { samples[i] |= std::byte{1}; }
  return samples;
}

TEST(WebP, RoundTripsLosslessRgbAndRgba) {
  Decoded const rgb = decode(format_of(3), kShape, encode_lossless(picture(40, 24, 3), 3), 40 * 24 * 3);
  EXPECT_EQ(rgb.result.status, TileStatus::ok);
  EXPECT_EQ(rgb.bytes, picture(40, 24, 3));
  Decoded const rgba = decode(format_of(4), kShape, encode_lossless(rgba_picture(), 4), 40 * 24 * 4);
  EXPECT_EQ(rgba.result.status, TileStatus::ok);
  EXPECT_EQ(rgba.bytes, rgba_picture());
}

TEST(WebP, MakesABlobWithoutAlphaOpaque) {
  Decoded const decoded = decode(format_of(4), kShape, encode_lossless(picture(40, 24, 3), 3), 40 * 24 * 4);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  Bytes const colours = picture(40, 24, 3);
  for (std::size_t i = 0; i < 40 * 24; ++i) {
    ASSERT_EQ(decoded.bytes[i * 4 + 3], std::byte{255});
    ASSERT_EQ(decoded.bytes[i * 4], colours[i * 3]);
  }
}

TEST(WebP, RefusesAlphaInAnImageWithout) {
  EXPECT_EQ(decode(format_of(3), kShape, encode_lossless(rgba_picture(), 4), 40 * 24 * 3).result.status,
            TileStatus::corrupt);
}

TEST(WebP, RefusesAnotherSize) {
  Bytes const stream = encode_lossless(picture(40, 24, 3), 3);
  EXPECT_EQ(decode(format_of(3), {40, 25}, stream, 40 * 25 * 3).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(3), {24, 40}, stream, 40 * 24 * 3).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(3), kShape, stream, 40 * 24 * 3 - 1).result.status, TileStatus::failed);
}

TEST(WebP, RefusesOtherSamples) {
  Bytes const stream = encode_lossless(picture(40, 24, 3), 3);
  EXPECT_EQ(decode(format_of(1), kShape, stream, 40 * 24).result.status, TileStatus::unsupported);
  BlockFormat deep = format_of(3);
  deep.bits_per_sample = 16;
  EXPECT_EQ(decode(deep, kShape, stream, 40 * 24 * 6).result.status, TileStatus::unsupported);
}

TEST(WebP, CountsTheGoodRowsOfEveryPrefix) {
  for (bool const lossy : {false, true}) {
    Bytes const stream = lossy ? encode_lossy(picture(40, 24, 3)) : encode_lossless(picture(40, 24, 3), 3);
    Bytes const truth = decode(format_of(3), kShape, stream, 40 * 24 * 3).bytes;
    expect_prefixes_are_honest(format_of(3), kShape, stream, truth, stream.size());
    Decoded const most = decode(format_of(3), kShape, std::span(stream).first(stream.size() - 8), truth.size());
    EXPECT_EQ(most.result.status, TileStatus::truncated);
  }
}

TEST(WebP, SurvivesDamage) {
  expect_survives_damage(format_of(3), kShape, encode_lossless(picture(40, 24, 3), 3), 40 * 24 * 3);
  expect_survives_damage(format_of(3), kShape, encode_lossy(picture(40, 24, 3)), 40 * 24 * 3);
  expect_survives_damage(format_of(4), kShape, encode_lossless(rgba_picture(), 4), 40 * 24 * 4);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
