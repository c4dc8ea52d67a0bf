// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LERC

#include <Lerc_c_api.h>

#include <limits>

namespace terrazzo::codec::testing {
namespace {

constexpr BlockShape kShape{48, 32};
constexpr std::size_t kPixels = 48 * 32;

EncodeFormat format_of(std::uint32_t samples, std::uint32_t bits, tiff::SampleFormat kind, std::uint32_t wrap = 0) {
  EncodeFormat format{.block = {.compression = tiff::Compression::lerc,
                                .samples_per_pixel = samples,
                                .bits_per_sample = bits,
                                .sample_format = kind,
                                .lerc_additional_compression = wrap}};
  format.level = wrap == 2 ? 9 : 6;
  return format;
}

template <class T>
Bytes slopes(std::uint32_t samples) {
  Bytes bytes(kPixels * samples * sizeof(T));
  for (std::size_t i = 0; i < kPixels * samples; ++i) {
    auto const value = static_cast<T>(static_cast<double>(i % 48) * 1.5 + static_cast<double>(i / 48 % 40));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
void put(Bytes& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

template <class T>
T get(Bytes const& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// NaN compares with NaN.
template <class T>
void expect_same_values(Bytes const& actual, Bytes const& expected, double max_error = 0) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size() / sizeof(T); ++i) {
    T const a = get<T>(actual, i);
    T const e = get<T>(expected, i);
    ASSERT_EQ(std::isnan(a), std::isnan(e)) << "sample " << i;
    if (!std::isnan(e)) { ASSERT_NEAR(a, e, max_error) << "sample " << i; }
  }
}

enum class Reader : std::uint8_t { ours, libtiff_too };

template <class T>
void expect_comes_back(EncodeFormat const& format, Bytes const& samples, Reader reader = Reader::libtiff_too,
                       double max_error = 0, BlockShape shape = kShape) {
  Bytes const stream = encode(format, shape, samples);
  Decoded const ours = decode(format.block, shape, stream, samples.size());
  ASSERT_EQ(ours.result.status, TileStatus::ok) << ours.result.reason;
  expect_same_values<T>(ours.bytes, samples, max_error);
  if (reader == Reader::ours) { return; }
  if (auto const libtiff = decode_by_libtiff(format, shape, stream)) { expect_same_values<T>(*libtiff, ours.bytes); }
}

TEST(EncodeLerc, IsLosslessForEveryTypeAndEveryWrapping) {
  for (std::uint32_t const wrap : {0U, 1U, 2U}) {
    for (std::uint32_t const samples : {1U, 3U}) {
      SCOPED_TRACE(::testing::Message() << "additional compression " << wrap << ", " << samples << " samples");
      using enum tiff::SampleFormat;
      auto const both = [&](std::uint32_t bits, tiff::SampleFormat kind, Bytes const& data) {
        EncodeFormat const format = format_of(samples, bits, kind, wrap);
        Bytes const stream = encode(format, kShape, data);
        EXPECT_EQ(decode(format.block, kShape, stream, data.size()).bytes, data);
        if (auto const libtiff = decode_by_libtiff(format, kShape, stream)) { EXPECT_EQ(*libtiff, data); }
      };
      both(8, uint, slopes<std::uint8_t>(samples));
      both(8, int_, slopes<std::int8_t>(samples));
      both(16, uint, slopes<std::uint16_t>(samples));
      both(16, int_, slopes<std::int16_t>(samples));
      both(32, uint, slopes<std::uint32_t>(samples));
      both(32, int_, slopes<std::int32_t>(samples));
      both(32, ieee_float, slopes<float>(samples));
      both(64, ieee_float, slopes<double>(samples));
      both(16, uint, random_bytes(kPixels * samples * 2, 9));
    }
  }
}

TEST(EncodeLerc, StaysWithinItsError) {
  EncodeFormat format = format_of(1, 32, tiff::SampleFormat::ieee_float, 2);
  format.lerc_max_error = 0.01;
  Bytes samples = slopes<float>(1);
  for (std::size_t i = 0; i < kPixels; ++i) {
    put(samples, i, get<float>(samples, i) + std::sin(static_cast<float>(i)));
  }
  EncodeFormat const exact = format_of(1, 32, tiff::SampleFormat::ieee_float, 2);
  EXPECT_LT(encode(format, kShape, samples).size(), encode(exact, kShape, samples).size());
  expect_comes_back<float>(format, samples, Reader::libtiff_too, 0.0100001);
}

TEST(EncodeLerc, MasksNanOfASingleBand) {
  Bytes samples = slopes<float>(1);
  for (std::size_t i = 100; i < 300; ++i) { put(samples, i, std::numeric_limits<float>::quiet_NaN()); }
  expect_comes_back<float>(format_of(1, 32, tiff::SampleFormat::ieee_float), samples);
  Bytes wide = slopes<double>(1);
  put(wide, 7, std::numeric_limits<double>::quiet_NaN());
  expect_comes_back<double>(format_of(1, 64, tiff::SampleFormat::ieee_float), wide);
}

// NaN in several bands stored together is read by libtiff from 4.6 on; tests of whole files ask GDAL.
TEST(EncodeLerc, MasksPixelsThatAreNanInEveryBand) {
  Bytes samples = slopes<float>(3);
  for (std::size_t i = 100 * 3; i < 300 * 3; ++i) { put(samples, i, std::numeric_limits<float>::quiet_NaN()); }
  expect_comes_back<float>(format_of(3, 32, tiff::SampleFormat::ieee_float), samples, Reader::ours);
}

TEST(EncodeLerc, MasksEachBandWhereTheyDiffer) {
  for (std::uint32_t const wrap : {0U, 1U, 2U}) {
    Bytes samples = slopes<float>(3);
    for (std::size_t i = 0; i < kPixels * 3; i += 7) { put(samples, i, std::numeric_limits<float>::quiet_NaN()); }
    expect_comes_back<float>(format_of(3, 32, tiff::SampleFormat::ieee_float, wrap), samples, Reader::ours);
  }
}

// Bands whose mask is that of the band before do not repeat it.
TEST(EncodeLerc, StoresBandsAsLiblercDoes) {
  Bytes samples = slopes<float>(4);
  for (std::size_t i = 0; i < kPixels; i += 5) {
    for (std::size_t const s : {1U, 2U}) { put(samples, i * 4 + s, std::numeric_limits<float>::quiet_NaN()); }
  }
  put(samples, 3, std::numeric_limits<float>::quiet_NaN());
  EncodeFormat format = format_of(4, 32, tiff::SampleFormat::ieee_float);
  format.lerc_max_error = 0.25;
  std::vector<float> bands(kPixels * 4);
  std::vector<unsigned char> masks(kPixels * 4);
  for (std::size_t i = 0; i < kPixels * 4; ++i) {
    std::size_t const to = i % 4 * kPixels + i / 4;
    bands[to] = get<float>(samples, i);
    masks[to] = std::isnan(bands[to]) ? 0 : 1;
  }
  Bytes theirs(bands.size() * 8);
  unsigned size = 0;
  ASSERT_EQ(lerc_encodeForVersion(bands.data(), 4, 6, 1, 48, 32, 4, 4, masks.data(), 0.25,
                                  reinterpret_cast<unsigned char*>(theirs.data()), static_cast<unsigned>(theirs.size()),
                                  &size),
            0U);
  theirs.resize(size);
  EXPECT_EQ(encode(format, kShape, samples), theirs);
  expect_comes_back<float>(format, samples, Reader::ours, 0.25);
}

// Each band has a header, and what is wrapped around them may hold no more than readers unpack.
TEST(EncodeLerc, StoresSamplesAsTheyAreWhereReadersUnpackNoHeaderForEachBand) {
  auto const check = [](auto zero, BlockShape shape, std::uint32_t bands, Reader reader = Reader::ours) {
    using Float = decltype(zero);
    SCOPED_TRACE(::testing::Message() << shape.width_px << " x " << shape.height_px << " px of " << bands
                                      << " samples");
    using Limits = std::numeric_limits<Float>;
    std::size_t const count = std::size_t{shape.width_px} * shape.height_px * bands;
    for (std::uint32_t const wrap : {1U, 2U}) {
      EncodeFormat const format = format_of(bands, sizeof(Float) * 8, tiff::SampleFormat::ieee_float, wrap);
      for (Float const value : {Float{0}, Float{-3.5}, Limits::max(), Limits::lowest()}) {
        Bytes flat(count * sizeof(Float)), mixed = flat;
        for (std::size_t i = 0; i < count; ++i) {
          put(flat, i, i % 5 == 0 ? Limits::quiet_NaN() : value);
          put(mixed, i, i % 7 == 0 ? Limits::quiet_NaN() : static_cast<Float>(i) * Float{1.75} + value);
        }
        expect_comes_back<Float>(format, flat, reader, 0, shape);
        expect_comes_back<Float>(format, mixed, reader, 0, shape);
      }
    }
  };
  check(0.0F, {1, 1}, 26);
  check(0.0F, {1, 3}, 4);
  check(0.0F, {3, 1}, 20);
  check(0.0F, {5, 5}, 20);
  check(0.0, {1, 1}, 13);
  check(0.0F, {3, 2}, 300, Reader::libtiff_too);
  check(0.0, {2, 3}, 300, Reader::libtiff_too);
}

TEST(EncodeLerc, RefusesShapesThatReadersMightNotUnpackWhateverTheSamples) {
  Encoder const& encoder = *find_encoder(tiff::Compression::lerc);
  for (std::uint32_t const wrap : {0U, 1U, 2U}) {
    EncodeFormat const format = format_of(27, 32, tiff::SampleFormat::ieee_float, wrap);
    EXPECT_EQ(encoder.refuse_shape(format, BlockShape{1, 1}).empty(), wrap == 0);
    EXPECT_EQ(encoder.refuse_shape(format, BlockShape{2, 3}), "");
    EXPECT_EQ(encoder.refuse_shape(format_of(65535, 32, tiff::SampleFormat::ieee_float, wrap), BlockShape{2, 3}), "");
    for (float const value : {0.0F, std::numeric_limits<float>::quiet_NaN()}) {
      Bytes samples(27 * sizeof(float));
      put(samples, 7, value);
      EncodedBlock block;
      Workspace workspace;
      auto const result = encoder.encode(format, BlockShape{1, 1}, samples, block, workspace);
      EXPECT_EQ(result.status, wrap == 0 ? TileStatus::ok : TileStatus::unsupported);
    }
  }
}

TEST(EncodeLerc, EncodesABlockOfNothingButNan) {
  Bytes samples = slopes<float>(1);
  for (std::size_t i = 0; i < kPixels; ++i) { put(samples, i, std::numeric_limits<float>::quiet_NaN()); }
  expect_comes_back<float>(format_of(1, 32, tiff::SampleFormat::ieee_float), samples);
}

TEST(EncodeLerc, KeepsTheColoursOfTransparentPixels) {
  EncodeFormat format = format_of(4, 8, tiff::SampleFormat::uint);
  format.block.photometric = tiff::Photometric::rgb;
  format.block.extra_samples = 1;
  format.block.last_sample_is_alpha = true;
  Bytes samples = slopes<std::uint8_t>(4);
  for (std::size_t i = 3; i < samples.size(); i += 4) { samples[i] = i % 5 == 0 ? std::byte{0} : std::byte{128}; }
  Bytes const stream = encode(format, kShape, samples);
  EXPECT_EQ(decode(format.block, kShape, stream, samples.size()).bytes, samples);
  if (auto const libtiff = decode_by_libtiff(format, kShape, stream)) { EXPECT_EQ(*libtiff, samples); }
}

TEST(EncodeLerc, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  EncodeFormat const format = format_of(1, 16, tiff::SampleFormat::uint, 2);
  expect_independent_of_history(format, {format_of(1, 16, tiff::SampleFormat::uint, 1)}, kShape);
}

// Blobs of bytes end with a word that carries nothing.
TEST(EncodeLerc, LeavesNothingOfOldMemoryInTheStream) {
  EncodeFormat const format = format_of(1, 8, tiff::SampleFormat::uint, 0);
  Bytes const samples = slopes<std::uint8_t>(1);
  Bytes streams[2];
  for (int i = 0; i < 2; ++i) {
    EncodedBlock block;
    std::ranges::fill(block.memory.get(1 << 20), i == 0 ? std::byte{0} : std::byte{0xFF});
    Workspace workspace;
    ASSERT_EQ(find_encoder(tiff::Compression::lerc)->encode(format, kShape, samples, block, workspace).status,
              TileStatus::ok);
    streams[i].assign(block.bytes.begin(), block.bytes.end());
  }
  EXPECT_EQ(streams[0], streams[1]);
}

TEST(EncodeLerc, IsOurOwn) { EXPECT_EQ(find_encoder(tiff::Compression::lerc)->library, ""); }

TEST(EncodeLerc, RefusesWhatItCannotHold) {
  auto const refuse = find_encoder(tiff::Compression::lerc)->refuse;
  EXPECT_NE(refuse(format_of(1, 64, tiff::SampleFormat::uint)), "");
  EXPECT_NE(refuse(format_of(1, 16, tiff::SampleFormat::ieee_float)), "");
  EncodeFormat format = format_of(1, 32, tiff::SampleFormat::ieee_float);
  format.lerc_max_error = -1;
  EXPECT_NE(refuse(format), "");
  format.lerc_max_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refuse(format), "");
  EncodeFormat wrapped = format_of(1, 32, tiff::SampleFormat::ieee_float, 2);
  wrapped.level = 23;
  EXPECT_NE(refuse(wrapped), "");
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
