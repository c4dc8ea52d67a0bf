// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "support/raster.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace terrazzo {
namespace {

using testing::Raster;
using testing::raster_builder;
using testing::text_tag;

constexpr std::uint32_t kWidth = 70, kHeight = 50;

std::vector<float> ramp() {
  std::vector<float> samples(std::size_t{kWidth} * kHeight);
  std::iota(samples.begin(), samples.end(), 0.0f);
  return samples;
}

// A pixel of 2 units, its corner at (100, 500); nodata -9999.
testing::TiffBuilder source_builder(std::vector<float> const& samples) {
  auto builder = raster_builder<float>(kWidth, kHeight, samples, 7);
  text_tag(builder, 42113, "-9999");
  builder.raw(33550, 12, 3, testing::as_bytes(std::vector<double>{2, 2, 0}));
  builder.raw(33922, 12, 6, testing::as_bytes(std::vector<double>{0, 0, 0, 100, 500, 0}));
  return builder;
}

std::vector<std::byte> converted(Dataset const& source, WriteOptions const& options, ReadRequest const& read = {}) {
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source, memory_sink(bytes), options, read));
  return bytes;
}

std::vector<float> pixels_of(HostArray const& array) {
  std::vector<float> values(array.bytes().size() / sizeof(float));
  std::memcpy(values.data(), array.bytes().data(), array.bytes().size());
  return values;
}

TEST(Convert, KeepsPixelsNodataAndPlace) {
  std::vector<float> samples = ramp();
  samples[5] = -9999;
  Raster const source(source_builder(samples));
  std::vector<std::byte> const bytes = converted(source.dataset(), conversion_options(source.dataset()));
  Dataset const result = open_memory(bytes);
  EXPECT_EQ(pixels_of(read(result)), samples);
  ASSERT_TRUE(result.info().bands[0].nodata);
  EXPECT_EQ(result.info().bands[0].nodata->value, -9999);
  EXPECT_EQ(result.info().georeference.transform, source.dataset().info().georeference.transform);
}

TEST(Convert, IsTheSameFileWhateverTheBuffers) {
  Raster const source(source_builder(ramp()));
  WriteOptions options = conversion_options(source.dataset());
  options.cog = true;
  options.tile_size = {16, 16};
  std::vector<std::byte> const whole = converted(source.dataset(), options);
  options.streaming_buffer_bytes = 1;
  options.threads = 1;
  EXPECT_EQ(converted(source.dataset(), options), whole);
}

TEST(Convert, MovesTheTransformToTheWindow) {
  Raster const source(source_builder(ramp()));
  ReadRequest const request{.window = Window{10, 20, 30, 5}};
  std::vector<std::byte> const bytes =
      converted(source.dataset(), conversion_options(source.dataset(), request), request);
  Dataset const result = open_memory(bytes);
  EXPECT_EQ(result.info().width, 30U);
  EXPECT_EQ(result.info().height, 5U);
  EXPECT_EQ(*result.info().georeference.transform, (std::array<double, 6>{120, 2, 0, 460, 0, -2}));
  EXPECT_EQ(pixels_of(read(result))[0], 20 * kWidth + 10);
}

TEST(Convert, ScalesTheTransformToTheTargetSize) {
  Raster const source(source_builder(ramp()));
  ReadRequest const request{.target_size = TargetSize{35, 10}};
  WriteOptions const options = conversion_options(source.dataset(), request);
  EXPECT_EQ(*options.georeference.transform, (std::array<double, 6>{100, 4, 0, 500, 0, -10}));
}

TEST(Convert, WritesTheTypeThatWasAskedFor) {
  Raster const source(source_builder(ramp()));
  ReadRequest const request{.dtype = DType::i16};
  std::vector<std::byte> const bytes =
      converted(source.dataset(), conversion_options(source.dataset(), request), request);
  Dataset const result = open_memory(bytes);
  EXPECT_EQ(result.info().dtype(), DType::i16);
  EXPECT_EQ(result.info().bands[0].nodata->value, -9999);
}

// int16 with holes of -32768; `scale` is written as the band's.
testing::TiffBuilder scaled_builder(std::string const& scale) {
  std::vector<std::int16_t> samples(std::size_t{kWidth} * kHeight);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = i % 7 == 0 ? std::int16_t{-32768} : static_cast<std::int16_t>(i);
  }
  auto builder = raster_builder<std::int16_t>(kWidth, kHeight, samples, 7);
  text_tag(builder, 42112,
           "<GDALMetadata><Item name='SCALE' sample='0' role='scale'>" + scale + "</Item></GDALMetadata>");
  text_tag(builder, 42113, "-32768");
  return builder;
}

// Level 1 too: what is missing there and what is not.
void expect_unpacked(Dataset const& result, double scale, Nodata const& nodata) {
  BandInfo const& band = result.info().bands[0];
  ASSERT_TRUE(band.nodata);
  EXPECT_EQ(band.nodata->text, nodata.text);
  EXPECT_FALSE(band.has_scale);
  EXPECT_EQ(*band.statistics.minimum, scale);
  EXPECT_EQ(*band.statistics.maximum, scale * (kWidth * kHeight - 1));
  HostArray const pixels = read(result), overview = read(result, {.level = 1}), mask = read_mask(result);
  auto const value = [](HostArray const& array, std::size_t i) {
    return reinterpret_cast<double const*>(array.bytes().data())[i];
  };
  for (std::size_t i = 0; i < std::size_t{kWidth} * kHeight; ++i) {
    EXPECT_EQ(mask.bytes()[i] == std::byte{0}, i % 7 == 0);
    if (i % 7 != 0) { EXPECT_EQ(value(pixels, i), static_cast<double>(i) * scale); }
  }
  for (std::size_t i = 0; i < overview.bytes().size() / sizeof(double); ++i) {
    EXPECT_GE(value(overview, i), scale);
    EXPECT_LE(value(overview, i), scale * kWidth * kHeight);
  }
}

TEST(Convert, KeepsMissingPixelsMissingWhenItUnpacks) {
  struct Case {
    char const* scale;
    char const* nodata;
  };
  for (auto const& [scale, nodata] : {Case{"0.25", "-32768"}, Case{"64", "nan"}}) {
    Raster const source(scaled_builder(scale));
    ReadRequest const request{.unpack = true};
    WriteOptions options = conversion_options(source.dataset(), request);
    EXPECT_EQ(options.nodata->text, nodata);
    options.statistics = true;
    options.overview_factors = std::vector<std::uint32_t>{2};
    std::vector<std::byte> const bytes = converted(source.dataset(), options, request);
    expect_unpacked(open_memory(bytes), std::stod(scale), make_nodata(nodata, DType::f64));
    options.nodata = make_nodata("-1", DType::f64);
    std::vector<std::byte> const named = converted(source.dataset(), options, request);
    expect_unpacked(open_memory(named), std::stod(scale), make_nodata("-1", DType::f64));
  }
}

TEST(Convert, MakesMissingPixelsAnyValueOfAnInteger) {
  Raster const source(scaled_builder("1"));
  ReadRequest const request{.masked = true, .dtype = DType::i32};
  WriteOptions options = conversion_options(source.dataset(), request);
  EXPECT_EQ(options.nodata->text, "-32768") << "no other pixel has it";
  for (char const* const nodata : {"-32768", "-5"}) {
    options.nodata = make_nodata(nodata, DType::i32);
    std::vector<std::byte> const bytes = converted(source.dataset(), options, request);
    Dataset const result = open_memory(bytes);
    HostArray const pixels = read(result);
    auto const* const values = reinterpret_cast<std::int32_t const*>(pixels.bytes().data());
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(kWidth * kHeight); ++i) {
      ASSERT_EQ(values[i], i % 7 == 0 ? options.nodata->value : i);
    }
  }
}

TEST(Convert, RefusesMissingPixelsThatWouldBeTakenForData) {
  Raster const source(scaled_builder("0.5"));
  ReadRequest const request{.unpack = true, .dtype = DType::u8};
  WriteOptions options = conversion_options(source.dataset(), request);
  EXPECT_FALSE(options.nodata);
  try {
    (void)converted(source.dataset(), options, request);
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("WriteOptions::nodata"), std::string::npos) << error.message();
  }
  options.mask = true;
  std::vector<std::byte> const bytes = converted(source.dataset(), options, request);
  EXPECT_EQ(read_mask(open_memory(bytes)).bytes()[7], std::byte{0});
}

TEST(Convert, TakesNoMeanOfClassesWhateverTheirType) {
  std::vector<std::uint8_t> classes(16, 3);
  std::vector<std::byte> bytes;
  WriteOptions palette;
  palette.band_info.resize(1);
  palette.band_info[0].color_table.resize(256);
  static_cast<void>(write(memory_sink(bytes), HostView{classes.data(), DType::u8, 1, 4, 4}, palette));
  Dataset const source = open_memory(bytes);
  ASSERT_FALSE(source.info().bands[0].color_table.empty());
  EXPECT_EQ(conversion_options(source, {.dtype = DType::u16}).overview_resampling, Resampling::nearest);
  EXPECT_EQ(conversion_options(source, {.bands = {1, 1}}).overview_resampling, Resampling::nearest);
  EXPECT_FALSE(conversion_options(source).overview_resampling) << "the palette says it";
}

TEST(Convert, KeepsCodesThatNobodyKnows) {
  constexpr std::uint16_t kGeoKeyDirectory = 34735, kNewCode = 900;  // EPSG numbers CRSs from 1024 on
  struct Case {
    std::vector<std::uint16_t> keys;
    Crs wanted;
  };
  using Kind = Crs::Kind;
  for (Case const& c : {Case{{1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, kNewCode},
                             {.kind = Kind::projected, .epsg = kNewCode, .horizontal_epsg = kNewCode}},
                        Case{{1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, kNewCode},
                             {.kind = Kind::geographic, .epsg = kNewCode, .horizontal_epsg = kNewCode}},
                        Case{{1, 1, 1, 3, 1024, 0, 1, 1, 3072, 0, 1, 32631, 4096, 0, 1, kNewCode},
                             {.kind = Kind::compound, .horizontal_epsg = 32631, .vertical_epsg = kNewCode}},
                        Case{{1, 1, 1, 3, 1024, 0, 1, 1, 3072, 0, 1, kNewCode, 4096, 0, 1, 5783},
                             {.kind = Kind::projected, .horizontal_epsg = kNewCode, .vertical_epsg = 5783}}}) {
    auto builder = source_builder(ramp());
    builder.shorts(kGeoKeyDirectory, c.keys);
    Raster const source(builder);
    std::vector<std::byte> const bytes = converted(source.dataset(), conversion_options(source.dataset()));
    Dataset const result = open_memory(bytes);
    Crs const& crs = *result.info().georeference.crs;
    EXPECT_EQ(crs.kind, c.wanted.kind);
    EXPECT_EQ(crs.epsg, c.wanted.epsg);
    EXPECT_EQ(crs.horizontal_epsg, c.wanted.horizontal_epsg);
    EXPECT_EQ(crs.vertical_epsg, c.wanted.vertical_epsg);
    EXPECT_EQ(result.detailed_info().georeference.crs->epsg, c.wanted.epsg);
  }
}

TEST(Convert, KeepsAlphaThatIsMultipliedIntoTheColours) {
  for (std::uint16_t const kind : {std::uint16_t{1}, std::uint16_t{2}}) {
    auto builder = raster_builder<std::uint8_t>(16, 16, std::vector<std::uint8_t>(16 * 16 * 4, 9), 16, 4);
    builder.shorts(338, {kind});
    Raster const source(builder);
    std::vector<std::byte> const bytes = converted(source.dataset(), conversion_options(source.dataset()));
    BandInfo const band = open_memory(bytes).info().bands.at(3);
    EXPECT_EQ(band.color, ColorInterpretation::alpha);
    EXPECT_EQ(band.metadata.find("ALPHA", "IMAGE_STRUCTURE") != nullptr, kind == 1);
  }
}

TEST(Convert, ThrowsOnWhatTheSourceLacks) {
  auto bytes = source_builder(ramp()).bytes();
  bytes.resize(bytes.size() / 2);
  Raster const whole(source_builder(ramp()));
  WriteOptions const options = conversion_options(whole.dataset());
  std::vector<std::byte> out;
  EXPECT_THROW(static_cast<void>(convert(open_memory(bytes), memory_sink(out), options)), Error);
  EXPECT_TRUE(out.empty());
}

TEST(Convert, StopsWhenProgressSaysSo) {
  Raster const source(source_builder(ramp()));
  WriteOptions options = conversion_options(source.dataset());
  options.tile_size = {16, 16};
  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 3; };
  std::vector<std::byte> out;
  try {
    static_cast<void>(convert(source.dataset(), memory_sink(out), options));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
  EXPECT_TRUE(out.empty());
}

// Bands of bytes, the last of them alpha.
std::vector<std::byte> picture(std::uint32_t bands, bool nodata = false) {
  WriteOptions options;
  options.bands = bands;
  options.band_info.resize(bands);
  options.band_info.back().color = ColorInterpretation::alpha;
  if (bands == 4) {
    options.band_info[0].color = ColorInterpretation::red;
    options.band_info[1].color = ColorInterpretation::green;
    options.band_info[2].color = ColorInterpretation::blue;
  }
  if (nodata) { options.nodata = make_nodata("3", DType::u8); }
  std::vector<std::uint8_t> samples(std::size_t{bands} * 40 * 30);
  for (std::size_t i = 0; i < samples.size(); ++i) { samples[i] = static_cast<std::uint8_t>(i * 7 % 11 * 20); }
  std::vector<std::byte> bytes;
  static_cast<void>(
      write(memory_sink(bytes), HostView{samples.data(), DType::u8, bands, 30, 40, 30 * 40, 40, 1}, options));
  return bytes;
}

TEST(MakeAlphaTheMask, KeepsAlphaExactInAJpeg) {
  for (std::uint32_t const bands : {2U, 4U}) {
    std::vector<std::byte> const bytes = picture(bands);
    Dataset const source = open_memory(bytes);
    ReadRequest request;
    WriteOptions options = conversion_options(source);
    options.cog = true;
    options.compression = Compression::jpeg;
    make_alpha_the_mask(source, request, options);
    std::vector<std::byte> const made = converted(source, options, request);
    Dataset const result = open_memory(made);
    ASSERT_EQ(result.info().bands.size(), bands - 1);
    EXPECT_EQ(result.info().bands[0].mask, MaskKind::internal);
    HostArray const alpha = read(source, {.bands = {bands}}), mask = read_mask(result);
    for (std::size_t i = 0; i < alpha.bytes().size(); ++i) {
      ASSERT_EQ(mask.bytes()[i] != std::byte{0}, alpha.bytes()[i] != std::byte{0}) << i;
    }
  }
}

TEST(MakeAlphaTheMask, LeavesAlphaWhereItIsNotBlurredOrWasAskedFor) {
  std::vector<std::byte> const bytes = picture(4), with_nodata = picture(4, true);
  auto const bands_of = [](std::vector<std::byte> const& file, auto const& change) {
    Dataset const source = open_memory(file);
    ReadRequest request;
    WriteOptions options = conversion_options(source);
    options.compression = Compression::jpeg;
    change(request, options);
    make_alpha_the_mask(source, request, options);
    return options.bands;
  };
  auto const nothing = [](ReadRequest&, WriteOptions&) {};
  EXPECT_EQ(bands_of(bytes, nothing), 3U);
  EXPECT_EQ(bands_of(with_nodata, nothing), 4U);
  EXPECT_EQ(bands_of(bytes, [](ReadRequest&, WriteOptions& o) { o.compression = Compression::webp; }), 4U);
  EXPECT_EQ(bands_of(bytes, [](ReadRequest&, WriteOptions& o) { o.mask = true; }), 4U);
  EXPECT_EQ(bands_of(bytes, [](ReadRequest&, WriteOptions& o) { o.planar = PlanarLayout::separate; }), 4U);
  EXPECT_EQ(bands_of(bytes, [](ReadRequest& r, WriteOptions&) { r.bands = {1, 2, 3, 4}; }), 4U);
}

}  // namespace
}  // namespace terrazzo
