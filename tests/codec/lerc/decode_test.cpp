// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_LERC

#include <Lerc_c_api.h>
#if TERRAZZO_HAVE_ZLIB
#include <zlib.h>
#endif
#if TERRAZZO_HAVE_ZSTD
#include <zstd.h>
#endif

#include <cmath>
#include <limits>

namespace terrazzo::codec::testing {
namespace {

using tiff::SampleFormat;

constexpr BlockShape kShape{20, 12};
constexpr std::size_t kPixels = 20 * 12;

BlockFormat format_of(SampleFormat sample_format, std::uint32_t bits, std::uint32_t samples = 1) {
  return {.compression = tiff::Compression::lerc,
          .samples_per_pixel = samples,
          .bits_per_sample = bits,
          .sample_format = sample_format};
}

struct Blob {
  unsigned type;      // the library's number of the sample type
  int depth = 1;      // samples together
  int bands = 1;      // samples apart
  int masks = 0;
};

Bytes encode(void const* samples, Blob blob, std::vector<std::uint8_t> const& mask = {}, BlockShape shape = kShape) {
  Bytes stream(65536);
  unsigned size = 0;
  EXPECT_EQ(
      lerc_encode(samples, blob.type, blob.depth, static_cast<int>(shape.width_px), static_cast<int>(shape.height_px),
                  blob.bands, blob.masks, mask.empty() ? nullptr : mask.data(), 0.0,
                  reinterpret_cast<unsigned char*>(stream.data()), static_cast<unsigned>(stream.size()), &size),
      0u);
  stream.resize(size);
  return stream;
}

template <class T>
std::vector<T> ramp(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) { values[i] = static_cast<T>(i * 3 % 120); }
  return values;
}

template <class T>
void expect_round_trip(SampleFormat sample_format, unsigned type) {
  for (std::uint32_t const samples : {1u, 3u}) {
    auto const values = ramp<T>(kPixels * samples);
    Bytes const stream = encode(values.data(), {.type = type, .depth = static_cast<int>(samples)});
    Decoded const decoded =
        decode(format_of(sample_format, 8 * sizeof(T), samples), kShape, stream, values.size() * sizeof(T));
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_EQ(std::memcmp(decoded.bytes.data(), values.data(), decoded.bytes.size()), 0);
  }
}

TEST(Lerc, RoundTripsEverySampleType) {
  expect_round_trip<std::int8_t>(SampleFormat::int_, 0);
  expect_round_trip<std::uint8_t>(SampleFormat::uint, 1);
  expect_round_trip<std::int16_t>(SampleFormat::int_, 2);
  expect_round_trip<std::uint16_t>(SampleFormat::uint, 3);
  expect_round_trip<std::int32_t>(SampleFormat::int_, 4);
  expect_round_trip<std::uint32_t>(SampleFormat::uint, 5);
  expect_round_trip<float>(SampleFormat::ieee_float, 6);
  expect_round_trip<double>(SampleFormat::ieee_float, 7);
}

TEST(Lerc, WritesToAnOutputThatIsNotAligned) {
  auto const values = ramp<double>(kPixels);
  Bytes const stream = encode(values.data(), {.type = 7});
  Bytes out(kPixels * 8 + 1);
  Workspace workspace;
  auto const result =
      find_codec(tiff::Compression::lerc)
          ->decode_block(format_of(SampleFormat::ieee_float, 64), kShape, stream, std::span(out).subspan(1), workspace);
  EXPECT_EQ(result.status, TileStatus::ok);
  EXPECT_EQ(std::memcmp(out.data() + 1, values.data(), kPixels * 8), 0);
}

TEST(Lerc, TurnsTheMaskIntoAlpha) {
  auto const colours = ramp<std::uint8_t>(kPixels * 3);
  std::vector<std::uint8_t> mask(kPixels, 1);
  mask[0] = mask[5] = mask[kPixels - 1] = 0;
  Bytes const stream = encode(colours.data(), {.type = 1, .depth = 3, .masks = 1}, mask);
  BlockFormat format = format_of(SampleFormat::uint, 8, 4);
  format.extra_samples = 1;
  format.last_sample_is_alpha = true;
  Decoded const decoded = decode(format, kShape, stream, kPixels * 4);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  for (std::size_t i = 0; i < kPixels; ++i) {
    EXPECT_EQ(decoded.bytes[i * 4 + 3], mask[i] != 0 ? std::byte{255} : std::byte{0});
    for (std::size_t s = 0; s < 3 && mask[i] != 0; ++s) {
      EXPECT_EQ(decoded.bytes[i * 4 + s], static_cast<std::byte>(colours[i * 3 + s]));
    }
  }
}

TEST(Lerc, MakesAllPixelsOpaqueWhenTheBlobHasNoMask) {
  auto const colours = ramp<std::uint8_t>(kPixels);
  BlockFormat format = format_of(SampleFormat::uint, 8, 2);
  format.last_sample_is_alpha = true;
  Decoded const decoded = decode(format, kShape, encode(colours.data(), {.type = 1}), kPixels * 2);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes[1], std::byte{255});
  EXPECT_EQ(decoded.bytes[kPixels * 2 - 2], static_cast<std::byte>(colours.back()));
}

TEST(Lerc, ReadsAlphaThatIsStoredAsASample) {
  auto const values = ramp<std::uint8_t>(kPixels * 4);
  BlockFormat format = format_of(SampleFormat::uint, 8, 4);
  format.last_sample_is_alpha = true;
  Decoded const decoded = decode(format, kShape, encode(values.data(), {.type = 1, .depth = 4}), values.size());
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(std::memcmp(decoded.bytes.data(), values.data(), values.size()), 0);
}

template <class Float>
void expect_nan_where_masked(unsigned type) {
  auto const values = ramp<Float>(kPixels * 2);
  std::vector<std::uint8_t> mask(kPixels, 1);
  mask[3] = mask[kPixels - 1] = 0;
  Bytes const stream = encode(values.data(), {.type = type, .depth = 2, .masks = 1}, mask);
  Decoded const decoded =
      decode(format_of(SampleFormat::ieee_float, 8 * sizeof(Float), 2), kShape, stream, values.size() * sizeof(Float));
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Float value;
    std::memcpy(&value, decoded.bytes.data() + i * sizeof(Float), sizeof(Float));
    if (mask[i / 2] == 0) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(value, values[i]);
    }
  }
}

TEST(Lerc, TurnsMaskedFloatsIntoNaN) {
  expect_nan_where_masked<float>(6);
  expect_nan_where_masked<double>(7);
}

TEST(Lerc, InterleavesBandsThatHaveTheirOwnMasks) {
  auto const values = ramp<float>(kPixels * 3);  // band after band
  std::vector<std::uint8_t> masks(kPixels * 3, 1);
  masks[1] = masks[kPixels + 2] = masks[3 * kPixels - 1] = 0;
  Bytes const stream = encode(values.data(), {.type = 6, .bands = 3, .masks = 3}, masks);
  Decoded const decoded = decode(format_of(SampleFormat::ieee_float, 32, 3), kShape, stream, kPixels * 12);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  for (std::size_t i = 0; i < kPixels; ++i) {
    for (std::size_t s = 0; s < 3; ++s) {
      float value;
      std::memcpy(&value, decoded.bytes.data() + (i * 3 + s) * 4, 4);
      if (masks[s * kPixels + i] == 0) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_EQ(value, values[s * kPixels + i]);
      }
    }
  }
}

TEST(Lerc, GivesMaskedIntegersAsZero) {
  auto const values = ramp<std::uint16_t>(kPixels);
  std::vector<std::uint8_t> mask(kPixels, 1);
  mask[7] = 0;
  Decoded const decoded = decode(format_of(SampleFormat::uint, 16), kShape,
                                 encode(values.data(), {.type = 3, .masks = 1}, mask), kPixels * 2);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes[14], std::byte{0});
  EXPECT_EQ(decoded.bytes[16], static_cast<std::byte>(values[8]));
}

TEST(Lerc, RefusesABlobThatIsNotTheBlocks) {
  auto const values = ramp<std::uint8_t>(kPixels);
  Bytes const stream = encode(values.data(), {.type = 1});
  EXPECT_EQ(decode(format_of(SampleFormat::uint, 16), kShape, stream, kPixels * 2).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(SampleFormat::uint, 8, 2), kShape, stream, kPixels * 2).result.status,
            TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(SampleFormat::uint, 8), {20, 13}, stream, 20 * 13).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(SampleFormat::uint, 8), {12, 20}, stream, kPixels).result.status, TileStatus::corrupt);
}

TEST(Lerc, RefusesSampleTypesThatLercDoesNotHave) {
  for (auto const& format : {format_of(SampleFormat::ieee_float, 16), format_of(SampleFormat::uint, 64),
                             format_of(SampleFormat::uint, 1), format_of(SampleFormat::complex_float, 64)}) {
    EXPECT_EQ(decode(format, kShape, random_bytes(50, 1), 4096).result.status, TileStatus::unsupported);
  }
}

TEST(Lerc, RefusesAnOutputSmallerThanTheBlock) {
  auto const values = ramp<std::uint8_t>(kPixels);
  Bytes const stream = encode(values.data(), {.type = 1});
  EXPECT_EQ(decode(format_of(SampleFormat::uint, 8), kShape, stream, kPixels - 1).result.status, TileStatus::failed);
  Decoded const larger = decode(format_of(SampleFormat::uint, 8), kShape, stream, kPixels + 1);
  EXPECT_EQ(larger.result.status, TileStatus::truncated);
  EXPECT_EQ(larger.result.bytes_written, kPixels);
}

Bytes wrap(Bytes const& blob, std::uint32_t with) {
  Bytes stream(blob.size() * 2 + 1024);
  if (with == 1) {
#if TERRAZZO_HAVE_ZLIB
    uLongf size = stream.size();
    EXPECT_EQ(::compress(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<Bytef const*>(blob.data()),
                         blob.size()),
              Z_OK);
    stream.resize(size);
#endif
  } else {
#if TERRAZZO_HAVE_ZSTD
    stream.resize(ZSTD_compress(stream.data(), stream.size(), blob.data(), blob.size(), 3));
#endif
  }
  return stream;
}

TEST(Lerc, UnwrapsDeflateAndZstd) {
  auto const values = ramp<float>(kPixels);
  Bytes const blob = encode(values.data(), {.type = 6});
  for (std::uint32_t const with : {1u, 2u}) {
    BlockFormat format = format_of(SampleFormat::ieee_float, 32);
    format.lerc_additional_compression = with;
    Bytes const stream = wrap(blob, with);
    Decoded const decoded = decode(format, kShape, stream, kPixels * 4);
    ASSERT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_EQ(std::memcmp(decoded.bytes.data(), values.data(), kPixels * 4), 0);
    expect_prefixes_are_honest(format, kShape, stream, decoded.bytes);
    expect_survives_damage(format, kShape, stream, kPixels * 4);
  }
}

TEST(Lerc, RefusesAWrapperThatUnpacksToFarMoreThanTheBlock) {
  Bytes const bomb(10'000'000);
  for (std::uint32_t const with : {1u, 2u}) {
    BlockFormat format = format_of(SampleFormat::ieee_float, 32);
    format.lerc_additional_compression = with;
    EXPECT_EQ(decode(format, kShape, wrap(bomb, with), kPixels * 4).result.status, TileStatus::corrupt);
  }
}

TEST(Lerc, RefusesAnUnknownWrapper) {
  BlockFormat format = format_of(SampleFormat::uint, 8);
  format.lerc_additional_compression = 3;
  EXPECT_EQ(decode(format, kShape, random_bytes(50, 1), kPixels).result.status, TileStatus::unsupported);
}

TEST(Lerc, IsHonestAboutEveryPrefixAndSurvivesDamage) {
  auto const values = ramp<std::uint16_t>(kPixels);
  Bytes const stream = encode(values.data(), {.type = 3});
  BlockFormat const format = format_of(SampleFormat::uint, 16);
  Bytes const truth = decode(format, kShape, stream, kPixels * 2).bytes;
  expect_prefixes_are_honest(format, kShape, stream, truth, stream.size());
  EXPECT_EQ(decode(format, kShape, std::span(stream).first(stream.size() - 1), truth.size()).result.status,
            TileStatus::corrupt);
  expect_survives_damage(format, kShape, stream, kPixels * 2);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
