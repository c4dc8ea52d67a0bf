// SPDX-License-Identifier: Apache-2.0
#include "read/filter/source_rows.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace terrazzo::reading {
namespace {

constexpr std::uint32_t kWidth = 40, kHeight = 100;

std::uint16_t at(SourceRows const& source, std::uint32_t row, std::uint32_t column) {
  tile::ConstHostRows const rows = source.band(0);
  auto const* const first = static_cast<std::byte const*>(rows.pixels.data);
  return *reinterpret_cast<std::uint16_t const*>(first + (row - rows.first) * rows.pixels.row_stride_bytes +
                                                 column * rows.pixels.pixel_stride_bytes);
}

ReadRequest filtered() {
  ReadRequest request;
  request.target_size = TargetSize{kWidth / 2, kHeight / 2};
  request.resampling = Resampling::average;
  return request;
}

TEST(SourceRows, HoldTheRowsThatAreAskedFor) {
  Opened const opened(image<std::uint16_t>(
      {.width = kWidth, .height = kHeight, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  auto const plan = make_plan(opened->shared_impl(), filtered());
  ASSERT_TRUE(plan->filter);
  MemoryBudget budget(1 << 24);
  Window const window{5, 0, 30, kHeight};
  SourceRows source(*plan, window, 40, budget);
  ReadReport report;
  std::uint64_t last_tiles = 0;
  for (std::uint32_t row = 0; row + 10 <= kHeight; row += 7) {
    source.provide(row, row + 10, {}, report);
    ASSERT_LE(source.first(), row);
    ASSERT_GE(source.end(), row + 10);
    for (std::uint32_t r = row; r < row + 10; ++r) {
      ASSERT_EQ(at(source, r, 0), value_at<std::uint16_t>(0, r, 5)) << r;
      ASSERT_EQ(at(source, r, 29), value_at<std::uint16_t>(0, r, 34)) << r;
    }
    last_tiles = report.tiles;
  }
  EXPECT_EQ(last_tiles, 6u * 3u) << "every tile above row 96 is decoded once: rows are read in whole tiles";
  EXPECT_FALSE(source.mask_of(0));
}

TEST(SourceRows, SkipRowsThatNothingNeeds) {
  Opened const opened(image<std::uint16_t>(
      {.width = kWidth, .height = kHeight, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  auto const plan = make_plan(opened->shared_impl(), filtered());
  MemoryBudget budget(1 << 24);
  SourceRows source(*plan, {0, 0, kWidth, kHeight}, 16, budget);
  ReadReport report;
  source.provide(80, 90, {}, report);
  EXPECT_EQ(at(source, 85, 3), value_at<std::uint16_t>(0, 85, 3));
  EXPECT_EQ(report.tiles, 3u);
}

TEST(SourceRows, HaveTheMaskAsBytes) {
  testing::TiffBuilder builder =
      image<std::uint16_t>({.width = kWidth, .height = kHeight, .bands = 2, .rows_per_strip = 7});
  builder.next_ifd();
  add_image<std::uint8_t>(
      builder, {.width = kWidth, .height = kHeight, .rows_per_strip = 50, .subfile_type = 4},
      [](std::uint32_t, std::uint32_t r, std::uint32_t) { return static_cast<std::uint8_t>(r < 50 ? 0 : 100); });
  Opened const opened(std::move(builder));
  auto const plan = make_plan(opened->shared_impl(), filtered());
  MemoryBudget budget(1 << 24);
  SourceRows source(*plan, {0, 0, kWidth, kHeight}, kHeight, budget);
  ReadReport report;
  source.provide(0, kHeight, {}, report);
  ASSERT_TRUE(source.mask_of(0));
  EXPECT_EQ(source.mask_of(0), source.mask_of(1)) << "one mask for both";
  auto const* const mask = static_cast<std::uint8_t const*>(source.band(1).mask.data);
  EXPECT_EQ(mask[49 * kWidth], 0);
  EXPECT_EQ(mask[50 * kWidth], 100) << "grey values are weights";
}

TEST(SourceRows, CountAsMemory) {
  Opened const opened(image<std::uint16_t>({.width = kWidth, .height = kHeight, .rows_per_strip = 7}));
  auto const plan = make_plan(opened->shared_impl(), filtered());
  MemoryBudget budget(1000);
  EXPECT_THROW((SourceRows(*plan, {0, 0, kWidth, kHeight}, kHeight, budget)), Error);
}

}  // namespace
}  // namespace terrazzo::reading
