// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/blocks.hpp"

#include "support/raster.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace terrazzo {
namespace {

constexpr std::uint32_t kWidth = 6, kHeight = 23;

std::vector<std::uint16_t> ramp(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  return values;
}

// Strips of four rows, two bands interleaved.
testing::Raster two_bands() {
  return testing::Raster(testing::raster_builder(kWidth, kHeight, ramp(std::size_t{kWidth} * kHeight * 2), 4, 2));
}

// All blocks put together again, band by band.
std::vector<std::uint16_t> reassemble(RowBlocks const& blocks, RowBlocks::Order order) {
  std::vector<std::uint16_t> whole(std::size_t{blocks.bands()} * blocks.height() * blocks.width());
  std::optional<HostArray> buffer;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    HostView const view = blocks.read(i, buffer, nullptr, order);
    for (std::uint32_t b = 0; b < view.bands; ++b) {
      for (std::uint32_t y = 0; y < view.height; ++y) {
        for (std::uint32_t x = 0; x < view.width; ++x) {
          auto const* at = static_cast<std::byte const*>(view.data) + b * view.band_stride_bytes +
                           y * view.row_stride_bytes + x * view.pixel_stride_bytes;
          std::size_t const row = std::size_t{b} * blocks.height() + blocks.first_row(i) + y;
          std::memcpy(&whole[row * blocks.width() + x], at, 2);
        }
      }
    }
  }
  return whole;
}

std::vector<std::uint16_t> read_whole(Dataset const& dataset, ReadRequest const& request) {
  HostArray const array = read(dataset, request);
  std::vector<std::uint16_t> values(array.bytes().size() / 2);
  std::memcpy(values.data(), array.bytes().data(), array.bytes().size());
  return values;
}

TEST(RowBlocks, AreWholeTileRowsWithinTheBudget) {
  auto const raster = two_bands();
  std::uint64_t const row_bytes = kWidth * 2 * 2;
  RowBlocks const blocks(raster.dataset(), {}, 11 * row_bytes);  // two strips fit, three do not
  ASSERT_EQ(blocks.count(), 3U);
  EXPECT_EQ(blocks.window(0), (Window{0, 0, kWidth, 8}));
  EXPECT_EQ(blocks.window(1), (Window{0, 8, kWidth, 8}));
  EXPECT_EQ(blocks.window(2), (Window{0, 16, kWidth, 7}));
}

TEST(RowBlocks, OfATargetGridHaveThePixelsOfTheWhole) {
  auto const raster = two_bands();
  for (Resampling const method : {Resampling::nearest, Resampling::cubic, Resampling::average}) {
    ReadRequest const request{.target_grid = TargetGrid{-0.2, 0.4, 0.7, 1.3, 1, 0, 7, 17}, .resampling = method};
    RowBlocks const blocks(raster.dataset(), request, 5 * 7 * 2 * 2);
    ASSERT_EQ(blocks.count(), 4U);
    EXPECT_EQ(blocks.rows_of(0), 5U);
    EXPECT_EQ(blocks.rows_of(3), 2U);
    EXPECT_EQ(blocks.first_row(3), 15U);
    EXPECT_EQ(reassemble(blocks, RowBlocks::Order::band), read_whole(raster.dataset(), request));
    EXPECT_EQ(reassemble(blocks, RowBlocks::Order::pixel), read_whole(raster.dataset(), request));
  }
}

TEST(RowBlocks, FollowTheTilesOfTheRasterNotOfTheWindow) {
  auto const raster = two_bands();
  RowBlocks const blocks(raster.dataset(), {.window = Window{1, 6, 4, 12}}, 4 * 4 * 2 * 2);
  ASSERT_EQ(blocks.count(), 4U);
  EXPECT_EQ(blocks.window(0), (Window{1, 6, 4, 2}));
  EXPECT_EQ(blocks.window(1), (Window{1, 8, 4, 4}));
  EXPECT_EQ(blocks.window(3), (Window{1, 16, 4, 2}));
  EXPECT_EQ(blocks.first_row(3), 10U);
}

TEST(RowBlocks, RowsOfUncompressedTilesMayBeSplit) {
  auto const raster =
      testing::Raster(testing::raster_builder(kWidth, kHeight, ramp(std::size_t{kWidth} * kHeight), kHeight));
  RowBlocks const blocks(raster.dataset(), {.window = Window{0, 10, kWidth, 13}}, 5 * kWidth * 2);
  ASSERT_EQ(blocks.count(), 3U);
  EXPECT_EQ(blocks.window(0), (Window{0, 10, kWidth, 5}));
  EXPECT_EQ(blocks.window(2), (Window{0, 20, kWidth, 3}));
}

TEST(RowBlocks, TogetherAreTheRaster) {
  auto const raster = two_bands();
  for (ReadRequest const& request : {ReadRequest{}, ReadRequest{.window = Window{2, 3, 3, 19}, .bands = {2, 1}}}) {
    for (std::uint64_t budget : {1U, 100U, 1'000U, 1'000'000U}) {
      RowBlocks const blocks(raster.dataset(), request, budget);
      auto const expected = read_whole(raster.dataset(), request);
      EXPECT_EQ(reassemble(blocks, RowBlocks::Order::band), expected) << budget;
      EXPECT_EQ(reassemble(blocks, RowBlocks::Order::pixel), expected) << budget;
    }
  }
}

TEST(RowBlocks, WithoutALimitAreOneAlsoWhenARowIsOneByte) {
  testing::Raster const raster(testing::raster_builder<std::uint8_t>(1, 9, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 2));
  RowBlocks const blocks(raster.dataset(), {}, ~std::uint64_t{0});
  ASSERT_EQ(blocks.count(), 1U);
  EXPECT_EQ(blocks.window(0), (Window{0, 0, 1, 9}));
}

TEST(RowBlocks, TargetSizeIsOneBlock) {
  auto const raster = two_bands();
  ReadRequest const request{.target_size = TargetSize{3, 5}};
  RowBlocks const blocks(raster.dataset(), request, 1);
  ASSERT_EQ(blocks.count(), 1U);
  EXPECT_EQ(blocks.height(), 5U);
  EXPECT_EQ(reassemble(blocks, RowBlocks::Order::band), read_whole(raster.dataset(), request));
}

TEST(RowBlocks, BufferIsUsedAgain) {
  auto const raster = two_bands();
  RowBlocks const blocks(raster.dataset(), {}, 1);
  std::optional<HostArray> buffer;
  void const* const first = blocks.read(0, buffer).data;
  EXPECT_EQ(blocks.read(1, buffer).data, first);
  EXPECT_EQ(blocks.read(5, buffer).data, first);  // the last one is shorter
}

TEST(RowBlocks, ReportsAddUpAndProgressRunsOverTheWhole) {
  auto const raster = two_bands();
  std::uint64_t last_done = 0, last_total = 0;
  bool forward = true;
  ReadRequest request;
  request.threads = 1;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    forward = forward && done >= last_done;
    last_done = done;
    last_total = total;
    return true;
  };
  RowBlocks const blocks(raster.dataset(), request, 1);
  std::optional<HostArray> buffer;
  ReadReport report;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) { blocks.read(i, buffer, &report); }
  EXPECT_EQ(report.bytes_read, std::uint64_t{kWidth} * kHeight * 2 * 2);
  EXPECT_TRUE(forward);
  EXPECT_EQ(last_done, last_total);
}

TEST(RowBlocks, CancelStopsBeforeTheNextBlock) {
  auto const raster = two_bands();
  std::atomic<bool> const cancel{true};
  RowBlocks const blocks(raster.dataset(), {.cancel = &cancel}, 1);
  std::optional<HostArray> buffer;
  try {
    blocks.read(0, buffer);
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

TEST(RowBlocks, AreSmallerWhereMemoryIs) {
  auto const raster = two_bands();
  std::uint64_t const row_bytes = kWidth * 2 * 2;
  RowBlocks const blocks(raster.dataset(), {.memory_limit_bytes = 2 * 5 * row_bytes}, 1'000'000);
  EXPECT_EQ(blocks.count(), 6U) << "half of it has five rows, so one strip of four";
  RowBlocks const all(raster.dataset(), {.memory_limit_bytes = 2 * 5 * row_bytes}, ~std::uint64_t{0});
  EXPECT_EQ(all.count(), 1U) << "who wants all gets all, or an error when it is read";
}

TEST(RowBlocks, MemoryLimitCountsInBothOrders) {
  auto const raster = two_bands();
  RowBlocks const blocks(raster.dataset(), {.memory_limit_bytes = 16}, 1'000'000);
  for (auto order : {RowBlocks::Order::band, RowBlocks::Order::pixel}) {
    std::optional<HostArray> buffer;
    EXPECT_THROW(blocks.read(0, buffer, nullptr, order), Error);
  }
}

}  // namespace
}  // namespace terrazzo
