// SPDX-License-Identifier: Apache-2.0
#include "ops/stream_rows.hpp"

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
