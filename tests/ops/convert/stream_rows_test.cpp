// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/stream_rows.hpp"

#include "support/raster.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace terrazzo::ops {
namespace {

using testing::Raster;

Raster make_source() {
  std::vector<std::uint16_t> samples(std::size_t{40} * 90 * 2);
  std::iota(samples.begin(), samples.end(), std::uint16_t{0});
  return Raster(testing::raster_builder<std::uint16_t>(40, 90, samples, 8, 2));
}

class StreamRows : public ::testing::TestWithParam<PlanarLayout> {};

TEST_P(StreamRows, BringsAllRowsInSmallBlocks) {
  Raster const source = make_source();
  WriteOptions options = conversion_options(source.dataset());
  options.planar = GetParam();
  options.streaming_buffer_bytes = 40 * 2 * 2 * 16 * 2;
  RowBlocks const blocks = blocks_for(source.dataset(), {}, options);
  EXPECT_GT(blocks.count(), 3U);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), blocks.width(), blocks.height(), options);
  ReadReport const report = stream_rows(blocks, options, writer);
  static_cast<void>(writer.close());
  EXPECT_EQ(report.tiles, 12U);  // 90 rows in strips of 8
  HostArray const before = read(source.dataset()), after = read(open_memory(bytes));
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
}

INSTANTIATE_TEST_SUITE_P(BothLayouts, StreamRows, ::testing::Values(PlanarLayout::contiguous, PlanarLayout::separate));

TEST(StreamRowsOf, MakesAMaskOfThePixelsThatAnyBandHas) {
  // Two bands, nodata 0: valid in the first, in none, in the second, in both.
  auto builder = testing::raster_builder<std::uint8_t>(4, 1, {1, 0, 0, 0, 0, 3, 5, 5}, 1, 2);
  testing::text_tag(builder, 42113, "0");
  Raster const source(builder);
  WriteOptions options = conversion_options(source.dataset());
  options.nodata.reset();
  options.mask = true;
  std::vector<std::byte> bytes;
  RowBlocks const blocks = blocks_for(source.dataset(), {}, options);
  Writer writer = create(memory_sink(bytes), blocks.width(), blocks.height(), options);
  static_cast<void>(stream_rows(blocks, options, writer));
  static_cast<void>(writer.close());
  HostArray const mask = read_mask(open_memory(bytes), {.bands = {1}});
  std::vector<std::byte> const wanted{std::byte{255}, std::byte{0}, std::byte{255}, std::byte{255}};
  EXPECT_TRUE(std::ranges::equal(mask.bytes(), wanted));
}

TEST(StreamRowsOf, MakesAMaskOfAlphaWhateverTheBands) {
  auto builder = testing::raster_builder<std::uint8_t>(3, 1, {9, 0, 9, 255, 9, 1}, 1, 2);
  builder.shorts(338, {2});
  Raster const source(builder);
  for (std::vector<std::uint32_t> const& bands : {std::vector<std::uint32_t>{1, 2}, {2, 1}, {1}}) {
    ReadRequest const request{.bands = bands};
    WriteOptions options = conversion_options(source.dataset(), request);
    options.mask = true;
    std::vector<std::byte> bytes;
    RowBlocks const blocks = blocks_for(source.dataset(), request, options);
    Writer writer = create(memory_sink(bytes), blocks.width(), blocks.height(), options);
    static_cast<void>(stream_rows(blocks, options, writer));
    static_cast<void>(writer.close());
    HostArray const mask = read_mask(open_memory(bytes), {.bands = {1}});
    std::vector<std::byte> const wanted{std::byte{0}, std::byte{255}, std::byte{255}};
    EXPECT_TRUE(std::ranges::equal(mask.bytes(), wanted)) << bands.front();
  }
}

TEST(StreamRowsOf, ThrowsWhatTheReaderThrows) {
  Raster const source = make_source();
  WriteOptions options = conversion_options(source.dataset());
  std::atomic<bool> const cancelled{true};
  options.cancel = &cancelled;
  RowBlocks const blocks = blocks_for(source.dataset(), {}, options);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), blocks.width(), blocks.height(), options);
  try {
    static_cast<void>(stream_rows(blocks, options, writer));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

}  // namespace
}  // namespace terrazzo::ops
