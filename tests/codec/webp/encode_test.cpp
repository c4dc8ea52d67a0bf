// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_WEBP

namespace terrazzo::codec::testing {
namespace {

constexpr BlockShape kShape{48, 32};

EncodeFormat format_of(std::uint32_t samples) {
  EncodeFormat format{.block = {.compression = tiff::Compression::webp,
                                .samples_per_pixel = samples,
                                .photometric = tiff::Photometric::rgb}};
  format.block.last_sample_is_alpha = samples == 4;
  format.block.extra_samples = samples == 4 ? 1 : 0;
  return format;
}

TEST(EncodeWebP, IsLosslessAndExactForNoiseAndPictures) {
  Workspace workspace;
  for (std::uint32_t const samples : {3U, 4U}) {
    for (BlockShape const shape : {BlockShape{1, 1}, {17, 5}, kShape}) {
      Bytes picture_bytes = picture(shape.width_px, shape.height_px, samples);
      if (samples == 4) { picture_bytes[3] = std::byte{0}; }  // transparent: its colour must survive
      expect_round_trip(format_of(samples), shape, picture_bytes, workspace);
      expect_round_trip(format_of(samples), shape, random_bytes(picture_bytes.size(), 4), workspace);
    }
  }
}

TEST(EncodeWebP, IsReadByLibtiff) {
  expect_libtiff_reads(format_of(3), kShape, picture(48, 32, 3));
  expect_libtiff_reads(format_of(4), kShape, random_bytes(48 * 32 * 4, 3));
}

TEST(EncodeWebP, LosesMoreAtLowerQuality) {
  EncodeFormat good = format_of(3);
  good.lossless = false;
  good.quality = 95;
  EncodeFormat poor = good;
  poor.quality = 20;
  BlockShape const shape{128, 128};
  Bytes const samples = picture(128, 128, 3);
  EXPECT_LT(encode(poor, shape, samples).size(), encode(good, shape, samples).size());
}

TEST(EncodeWebP, GivesTheSameBytesEveryTime) {
  EncodeFormat lossy = format_of(3);
  lossy.lossless = false;
  expect_independent_of_history(format_of(3), {lossy}, kShape);
  expect_independent_of_history(lossy, {format_of(3)}, kShape);
}

TEST(EncodeWebP, RefusesWhatItCannotHold) {
  auto const refuse = find_encoder(tiff::Compression::webp)->refuse;
  EXPECT_NE(refuse(format_of(1)), "");
  EncodeFormat wide = format_of(3);
  wide.block.bits_per_sample = 16;
  EXPECT_NE(refuse(wide), "");
  EncodeFormat lossy = format_of(3);
  lossy.lossless = false;
  lossy.quality = 0;
  EXPECT_NE(refuse(lossy), "");
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
