// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_OPENJPEG

#include <openjpeg.h>

namespace terrazzo::codec::testing {
namespace {

using tiff::Compression;
using tiff::Photometric;
using tiff::SampleFormat;

constexpr std::uint32_t kWidth = 40, kHeight = 24;
constexpr BlockShape kShape{kWidth, kHeight};

struct Options {
  std::uint32_t components = 1;
  std::uint32_t bits = 8;
  bool is_signed = false;
  bool jp2 = false;
  std::uint32_t chroma_step = 1;  // subsampling of the second and third component
  int inner_tile = 0;             // tiles of the codestream, 0: one
  bool multi_component = false;
};

OPJ_INT32 sample(Options const& options, std::uint32_t component, std::uint32_t x, std::uint32_t y) {
  auto const value = static_cast<OPJ_INT32>((x * (3 + component) + y * 7 + 31 * component) % (1U << options.bits));
  return options.is_signed ? value - (1 << (options.bits - 1)) : value;
}

struct Growing {
  Bytes bytes;
  std::size_t at = 0;
};

Bytes encode(Options const& options) {
  std::vector<opj_image_cmptparm_t> parameters(options.components);
  for (std::uint32_t i = 0; i < options.components; ++i) {
    std::uint32_t const step = i == 0 ? 1 : options.chroma_step;
    parameters[i] = {};
    parameters[i].dx = parameters[i].dy = step;
    parameters[i].w = (kWidth + step - 1) / step;
    parameters[i].h = (kHeight + step - 1) / step;
    parameters[i].prec = options.bits;
    parameters[i].sgnd = options.is_signed ? 1 : 0;
  }
  opj_image_t* const image = opj_image_create(options.components, parameters.data(),
                                              options.components == 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
  image->x1 = kWidth;
  image->y1 = kHeight;
  for (std::uint32_t i = 0; i < options.components; ++i) {
    for (std::uint32_t y = 0; y < parameters[i].h; ++y) {
      for (std::uint32_t x = 0; x < parameters[i].w; ++x) {
        image->comps[i].data[y * parameters[i].w + x] = sample(options, i, x, y);
      }
    }
  }
  opj_cparameters_t settings;
  opj_set_default_encoder_parameters(&settings);
  settings.numresolution = 3;
  settings.tcp_mct = options.multi_component ? 1 : 0;
  if (options.inner_tile != 0) {
    settings.tile_size_on = OPJ_TRUE;
    settings.cp_tdx = settings.cp_tdy = options.inner_tile;
  }
  opj_codec_t* const codec = opj_create_compress(options.jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  EXPECT_TRUE(opj_setup_encoder(codec, &settings, image));
  Growing file;
  opj_stream_t* const stream = opj_stream_default_create(OPJ_FALSE);
  opj_stream_set_user_data(stream, &file, nullptr);
  opj_stream_set_write_function(stream, [](void* data, OPJ_SIZE_T size, void* user) -> OPJ_SIZE_T {
    auto& target = *static_cast<Growing*>(user);
    target.bytes.resize(std::max(target.bytes.size(), target.at + size));
    std::memcpy(target.bytes.data() + target.at, data, size);
    target.at += size;
    return size;
  });
  opj_stream_set_seek_function(stream, [](OPJ_OFF_T to, void* user) -> OPJ_BOOL {
    static_cast<Growing*>(user)->at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  });
  opj_stream_set_skip_function(stream, [](OPJ_OFF_T by, void* user) -> OPJ_OFF_T {
    static_cast<Growing*>(user)->at += static_cast<std::size_t>(by);
    return by;
  });
  EXPECT_TRUE(opj_start_compress(codec, image, stream) && opj_encode(codec, stream) && opj_end_compress(codec, stream));
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return file.bytes;
}

BlockFormat format_of(Options const& options, Compression compression = Compression::jpeg2000) {
  return {.compression = compression,
          .samples_per_pixel = options.components,
          .bits_per_sample = options.bits <= 8 ? 8u : 16u,
          .sample_format = options.is_signed ? SampleFormat::int_ : SampleFormat::uint,
          .photometric = options.components == 3 ? Photometric::rgb : Photometric::min_is_black};
}

std::size_t size_of(BlockFormat const& format) {
  return kWidth * kHeight * format.samples_per_pixel * format.bits_per_sample / 8;
}

int value_at(Bytes const& bytes, BlockFormat const& format, std::size_t index) {
  if (format.bits_per_sample == 8) {
    auto const raw = std::to_integer<std::uint8_t>(bytes[index]);
    return format.sample_format == SampleFormat::int_ ? static_cast<std::int8_t>(raw) : raw;
  }
  std::uint16_t raw;
  std::memcpy(&raw, bytes.data() + index * 2, 2);
  return format.sample_format == SampleFormat::int_ ? static_cast<std::int16_t>(raw) : raw;
}

void expect_round_trip(Options const& options) {
  BlockFormat const format = format_of(options);
  Decoded const decoded = decode(format, kShape, encode(options), size_of(format));
  ASSERT_EQ(decoded.result.status, TileStatus::ok) << decoded.result.reason;
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      for (std::uint32_t i = 0; i < options.components; ++i) {
        std::uint32_t const step = i == 0 ? 1 : options.chroma_step;
        ASSERT_EQ(value_at(decoded.bytes, format, (y * kWidth + x) * options.components + i),
                  sample(options, i, x / step, y / step));
      }
    }
  }
}

TEST(Jpeg2000, RoundTripsDepthsSignsAndContainers) {
  for (std::uint32_t const bits : {8u, 12u, 16u}) {
    for (bool const is_signed : {false, true}) {
      for (bool const jp2 : {false, true}) {
        expect_round_trip({.bits = bits, .is_signed = is_signed, .jp2 = jp2});
        expect_round_trip({.components = 3, .bits = bits, .is_signed = is_signed, .jp2 = jp2});
      }
    }
  }
}

TEST(Jpeg2000, RoundTripsTilesAndColourTransforms) {
  expect_round_trip({.components = 3, .inner_tile = 16});
  expect_round_trip({.components = 3, .multi_component = true});
  expect_round_trip({.components = 4});
}

TEST(Jpeg2000, RepeatsSubsampledComponents) { expect_round_trip({.components = 3, .chroma_step = 2}); }

TEST(Jpeg2000, ConvertsAperioYCbCrAndLeavesAperioRgb) {
  Options const options{.components = 3};
  Bytes const stream = encode(options);
  std::size_t const bytes = size_of(format_of(options));
  Decoded const rgb = decode(format_of(options, Compression::aperio_jp2_rgb), kShape, stream, bytes);
  Decoded const converted = decode(format_of(options, Compression::aperio_jp2_ycbcr), kShape, stream, bytes);
  ASSERT_EQ(converted.result.status, TileStatus::ok);
  for (std::size_t i = 0; i < bytes; i += 3) {
    double const y = std::to_integer<int>(rgb.bytes[i]), cb = std::to_integer<int>(rgb.bytes[i + 1]) - 128.0,
                 cr = std::to_integer<int>(rgb.bytes[i + 2]) - 128.0;
    ASSERT_NEAR(std::to_integer<int>(converted.bytes[i]), std::clamp(y + 1.402 * cr, 0.0, 255.0), 0.51);
    ASSERT_NEAR(std::to_integer<int>(converted.bytes[i + 1]), std::clamp(y - 0.344136 * cb - 0.714136 * cr, 0.0, 255.0),
                0.51);
    ASSERT_NEAR(std::to_integer<int>(converted.bytes[i + 2]), std::clamp(y + 1.772 * cb, 0.0, 255.0), 0.51);
  }
  BlockFormat as_stored = format_of(options, Compression::aperio_jp2_ycbcr);
  as_stored.convert_ycbcr_to_rgb = false;
  EXPECT_EQ(decode(as_stored, kShape, stream, bytes).bytes, rgb.bytes);
}

TEST(Jpeg2000, RefusesAStreamThatIsNotTheBlocks) {
  Bytes const stream = encode({});
  BlockFormat format = format_of({});
  EXPECT_EQ(decode(format, {kWidth, kHeight + 1}, stream, kWidth * (kHeight + 1)).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format, kShape, stream, kWidth * kHeight - 1).result.status, TileStatus::failed);
  format.samples_per_pixel = 2;
  EXPECT_EQ(decode(format, kShape, stream, kWidth * kHeight * 2).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of({}), kShape, encode({.bits = 12}), kWidth * kHeight).result.status, TileStatus::corrupt);
}

TEST(Jpeg2000, RefusesFloats) {
  BlockFormat format = format_of({});
  format.bits_per_sample = 32;
  EXPECT_EQ(decode(format, kShape, encode({}), kWidth * kHeight * 4).result.status, TileStatus::unsupported);
}

TEST(Jpeg2000, IsHonestAboutPrefixesAndSurvivesDamage) {
  Options const options{.components = 3, .jp2 = true};
  BlockFormat const format = format_of(options);
  Bytes const stream = encode(options);
  Bytes const truth = decode(format, kShape, stream, size_of(format)).bytes;
  // The end marker is not needed.
  expect_prefixes_are_honest(format, kShape, std::span(stream).first(stream.size() - 2), truth, 100);
  EXPECT_EQ(decode(format, kShape, std::span(stream).first(stream.size() / 2), truth.size()).result.status,
            TileStatus::corrupt);
  expect_survives_damage(format, kShape, stream, size_of(format), 60);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
