// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/convert.hpp"

#include "support/raster.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

}  // namespace
}  // namespace terrazzo
