// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_OPENJPEG

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(std::uint32_t samples, std::uint32_t bits, tiff::SampleFormat kind = tiff::SampleFormat::uint) {
  return {.block = {.compression = tiff::Compression::jpeg2000,
                    .samples_per_pixel = samples,
                    .bits_per_sample = bits,
                    .sample_format = kind,
                    .photometric = samples >= 3 ? tiff::Photometric::rgb : tiff::Photometric::min_is_black}};
}

TEST(EncodeJpeg2000, IsLosslessForEveryTypeAndShape) {
  Workspace workspace;
  for (BlockShape const shape : {BlockShape{1, 1}, {1, 9}, {17, 5}, {33, 64}, {64, 64}}) {
    for (std::uint32_t const samples : {1U, 2U, 3U, 4U, 5U}) {
      for (std::uint32_t const bits : {8U, 16U}) {
        for (auto const kind : {tiff::SampleFormat::uint, tiff::SampleFormat::int_}) {
          SCOPED_TRACE(::testing::Message() << shape.width_px << " x " << shape.height_px << ", " << samples
                                            << " samples of " << bits << " bits");
          EncodeFormat const format = format_of(samples, bits, kind);
          for (Bytes const& data : samples_of_every_kind(bytes_of_block(format.block, shape))) {
            expect_round_trip(format, shape, data, workspace);
          }
        }
      }
    }
  }
}

TEST(EncodeJpeg2000, WritesABareCodestream) {
  Bytes const stream = encode(format_of(1, 8), {16, 16}, picture(16, 16, 1));
  ASSERT_GE(stream.size(), 4u);
  EXPECT_EQ(stream[0], std::byte{0xFF});
  EXPECT_EQ(stream[1], std::byte{0x4F});
  EXPECT_EQ(stream[stream.size() - 1], std::byte{0xD9});
}

TEST(EncodeJpeg2000, AimsAtTheCompressionRatio) {
  BlockShape const shape{256, 256};
  Bytes const samples = random_bytes(256 * 256, 8);
  EncodeFormat format = format_of(1, 8);
  format.lossless = false;
  format.jpeg2000_rate = 20;
  Bytes const stream = encode(format, shape, samples);
  EXPECT_NEAR(static_cast<double>(stream.size()), 256.0 * 256 / 20, 256.0 * 256 / 20 * 0.1);
  EXPECT_EQ(decode(format.block, shape, stream, samples.size()).result.status, TileStatus::ok);
}

TEST(EncodeJpeg2000, GivesTheSameBytesEveryTime) {
  EncodeFormat lossy = format_of(3, 8);
  lossy.lossless = false;
  lossy.jpeg2000_rate = 10;
  expect_independent_of_history(format_of(3, 8), {lossy}, {64, 48});
  expect_independent_of_history(lossy, {format_of(3, 8)}, {64, 48});
}

TEST(EncodeJpeg2000, RefusesWhatItCannotHold) {
  auto const refuse = find_encoder(tiff::Compression::jpeg2000)->refuse;
  EXPECT_NE(refuse(format_of(1, 32)), "");
  EXPECT_NE(refuse(format_of(1, 16, tiff::SampleFormat::ieee_float)), "");
  EncodeFormat lossy = format_of(1, 8);
  lossy.lossless = false;
  EXPECT_NE(refuse(lossy), "") << "lossy without a ratio";
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
