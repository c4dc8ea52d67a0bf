// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_JXL

#include <jxl/encode.h>

namespace terrazzo::codec::testing {
namespace {

using tiff::SampleFormat;

constexpr std::uint32_t kWidth = 24, kHeight = 16, kPixels = kWidth * kHeight;
constexpr BlockShape kShape{kWidth, kHeight};

struct Options {
  std::uint32_t colours = 1;  // 1 or 3
  std::uint32_t extras = 0;   // further channels; the first is alpha when `alpha`
  bool alpha = false;
  std::uint32_t bits = 8;
  JxlDataType type = JXL_TYPE_UINT8;
};

std::size_t sample_bytes(Options const& options) { return options.bits / 8; }

// The block as TIFF has it: all samples interleaved.
Bytes block(Options const& options) {
  std::uint32_t const samples = options.colours + options.extras;
  if (options.type == JXL_TYPE_FLOAT) {
    Bytes bytes(kPixels * samples * 4);
    for (std::uint32_t i = 0; i < kPixels * samples; ++i) {
      float const value = static_cast<float>(i % 97) / 97.0F;
      std::memcpy(bytes.data() + i * 4, &value, 4);
    }
    return bytes;
  }
  return random_bytes(kPixels * samples * sample_bytes(options), 9);
}

Bytes channels_of(Bytes const& block, std::size_t pixel, std::size_t offset, std::size_t count) {
  Bytes part;
  for (std::size_t at = offset; at < block.size(); at += pixel) {
    part.insert(part.end(), block.begin() + static_cast<std::ptrdiff_t>(at),
                block.begin() + static_cast<std::ptrdiff_t>(at + count));
  }
  return part;
}

Bytes encode(Options const& options) {
  JxlEncoder* const encoder = JxlEncoderCreate(nullptr);
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = kWidth;
  info.ysize = kHeight;
  info.bits_per_sample = options.bits;
  info.exponent_bits_per_sample = options.type == JXL_TYPE_FLOAT ? 8 : 0;
  info.num_color_channels = options.colours;
  info.num_extra_channels = options.extras;
  info.alpha_bits = options.alpha ? options.bits : 0;
  info.alpha_exponent_bits = options.alpha ? info.exponent_bits_per_sample : 0;
  info.uses_original_profile = JXL_TRUE;
  EXPECT_EQ(JxlEncoderSetBasicInfo(encoder, &info), JXL_ENC_SUCCESS);
  JxlColorEncoding colour;
  JxlColorEncodingSetToSRGB(&colour, options.colours == 1 ? JXL_TRUE : JXL_FALSE);
  EXPECT_EQ(JxlEncoderSetColorEncoding(encoder, &colour), JXL_ENC_SUCCESS);
  for (std::uint32_t i = 0; i < options.extras; ++i) {
    JxlExtraChannelInfo extra;
    JxlEncoderInitExtraChannelInfo(options.alpha && i == 0 ? JXL_CHANNEL_ALPHA : JXL_CHANNEL_OPTIONAL, &extra);
    extra.bits_per_sample = options.bits;
    extra.exponent_bits_per_sample = info.exponent_bits_per_sample;
    EXPECT_EQ(JxlEncoderSetExtraChannelInfo(encoder, i, &extra), JXL_ENC_SUCCESS);
  }
  JxlEncoderFrameSettings* const frame = JxlEncoderFrameSettingsCreate(encoder, nullptr);
  JxlEncoderSetFrameLossless(frame, JXL_TRUE);
  JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, 3);
  std::size_t const bytes = sample_bytes(options);
  std::size_t const pixel = (options.colours + options.extras) * bytes;
  std::uint32_t const together = options.colours + (options.alpha ? 1 : 0);
  Bytes const all = block(options);
  JxlPixelFormat layout{together, options.type, JXL_NATIVE_ENDIAN, 0};
  Bytes const main = channels_of(all, pixel, 0, together * bytes);
  EXPECT_EQ(JxlEncoderAddImageFrame(frame, &layout, main.data(), main.size()), JXL_ENC_SUCCESS);
  layout.num_channels = 1;
  for (std::uint32_t i = together; i < options.colours + options.extras; ++i) {
    Bytes const plane = channels_of(all, pixel, i * bytes, bytes);
    EXPECT_EQ(JxlEncoderSetExtraChannelBuffer(frame, &layout, plane.data(), plane.size(), i - options.colours),
              JXL_ENC_SUCCESS);
  }
  JxlEncoderCloseInput(encoder);
  Bytes stream(1 << 20);
  auto* next = reinterpret_cast<std::uint8_t*>(stream.data());
  std::size_t left = stream.size();
  EXPECT_EQ(JxlEncoderProcessOutput(encoder, &next, &left), JXL_ENC_SUCCESS);
  stream.resize(stream.size() - left);
  JxlEncoderDestroy(encoder);
  return stream;
}

BlockFormat format_of(Options const& options) {
  return {.compression = tiff::Compression::jxl,
          .samples_per_pixel = options.colours + options.extras,
          .bits_per_sample = options.bits,
          .sample_format = options.type == JXL_TYPE_FLOAT ? SampleFormat::ieee_float : SampleFormat::uint};
}

void expect_round_trip(Options const& options) {
  Bytes const truth = block(options);
  Decoded const decoded = decode(format_of(options), kShape, encode(options), truth.size());
  ASSERT_EQ(decoded.result.status, TileStatus::ok) << decoded.result.reason;
  EXPECT_EQ(decoded.bytes, truth);
}

TEST(Jxl, RoundTripsIntegersAndFloats) {
  for (std::uint32_t const colours : {1u, 3u}) {
    expect_round_trip({.colours = colours});
    expect_round_trip({.colours = colours, .bits = 16, .type = JXL_TYPE_UINT16});
    expect_round_trip({.colours = colours, .bits = 32, .type = JXL_TYPE_FLOAT});
  }
}

TEST(Jxl, KeepsAlphaInPlace) {
  expect_round_trip({.colours = 1, .extras = 1, .alpha = true});
  expect_round_trip({.colours = 3, .extras = 1, .alpha = true});
}

TEST(Jxl, WeavesExtraChannelsIn) {
  expect_round_trip({.colours = 1, .extras = 4});
  expect_round_trip({.colours = 3, .extras = 2, .alpha = true});
  expect_round_trip({.colours = 1, .extras = 2, .bits = 16, .type = JXL_TYPE_UINT16});
}

TEST(Jxl, ServesTheNumberOfDngToo) {
  BlockFormat format = format_of({});
  format.compression = tiff::Compression::jxl_dng_1_7;
  EXPECT_EQ(decode(format, kShape, encode({}), kPixels).bytes, block({}));
}

TEST(Jxl, ReusesAWorkspaceAfterAStreamThatBroke) {
  Workspace workspace;
  Bytes const stream = encode({});
  decode(format_of({}), kShape, std::span(stream).first(stream.size() / 2), kPixels, workspace);
  EXPECT_EQ(decode(format_of({}), kShape, stream, kPixels, workspace).bytes, block({}));
}

TEST(Jxl, RefusesAStreamThatIsNotTheBlocks) {
  Bytes const stream = encode({});
  EXPECT_EQ(decode(format_of({}), {kWidth + 1, kHeight}, stream, (kWidth + 1) * kHeight).result.status,
            TileStatus::corrupt);
  EXPECT_EQ(decode(format_of({.bits = 16, .type = JXL_TYPE_UINT16}), kShape, stream, kPixels * 2).result.status,
            TileStatus::corrupt);
  EXPECT_EQ(decode(format_of({.colours = 3}), kShape, stream, kPixels * 3).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of({}), kShape, stream, kPixels - 1).result.status, TileStatus::failed);
}

TEST(Jxl, RefusesSampleTypesItDoesNotHave) {
  BlockFormat format = format_of({});
  format.sample_format = SampleFormat::int_;
  EXPECT_EQ(decode(format, kShape, encode({}), kPixels).result.status, TileStatus::unsupported);
}

TEST(Jxl, IsHonestAboutPrefixesAndSurvivesDamage) {
  Options const options{.colours = 3, .extras = 1, .alpha = true};
  Bytes const stream = encode(options);
  Bytes const truth = block(options);
  expect_prefixes_are_honest(format_of(options), kShape, stream, truth, 60);
  EXPECT_EQ(decode(format_of(options), kShape, std::span(stream).first(stream.size() / 2), truth.size()).result.status,
            TileStatus::truncated);
  expect_survives_damage(format_of(options), kShape, stream, truth.size(), 60);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
