// SPDX-License-Identifier: Apache-2.0
#include "read/host/fetch_ahead.hpp"

#include "io/memory_source.hpp"
#include "read/images.hpp"
#include "support/failure.hpp"
#include "support/slow_line.hpp"
#include "support/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace terrazzo::reading {
namespace {

using testing::failure_of;
using testing::SlowLine;

constexpr std::uint32_t kTiles = 256;
constexpr std::size_t kLanes = 64;
// One tile a submit(), so that every tile is a request.
constexpr SourceHints kHints{
    .merge_gap_bytes = 0, .batch_bytes = 1, .read_ahead_bytes = 64 << 10, .requests_in_flight = kLanes};

std::vector<std::byte> const& file_of_256_tiles() {
  static std::vector<std::byte> const bytes =
      image<std::uint8_t>({.width = 256, .height = 256, .tile_width = 16, .tile_height = 16, .compression = kPackBits})
          .bytes();
  return bytes;
}

// An open dataset behind the line; its clock begins after open().
struct Behind {
  explicit Behind(SourceHints const& hints, std::vector<std::byte> bytes = file_of_256_tiles())
      : line(std::make_shared<SlowLine>(std::make_shared<io::MemorySource const>(std::move(bytes), "far"), kLanes,
                                        hints)),
        dataset(open(line)) {
    line->reset();
  }
  std::shared_ptr<SlowLine> line;
  Dataset dataset;
};

void expect_right(HostArray const& result) {
  EXPECT_TRUE(std::ranges::equal(result.bytes(), read(open_memory(file_of_256_tiles())).bytes()));
}

TEST(FetchAhead, KeepsTheLanesOfASourceBusy) {
  constexpr std::uint64_t kLeast = kTiles / kLanes;
  for (unsigned const threads : {1u, 2u, 4u}) {
    Behind far(kHints);
    HostArray const result = read(far.dataset, {.threads = threads});
    expect_right(result);
    EXPECT_EQ(far.line->requests(), kTiles);
    EXPECT_LT(far.line->round_trips(), 3 * kLeast) << threads << " threads";
    if (threads == 1) { EXPECT_EQ(far.line->most_lanes_busy(), kLanes); }
  }
}

TEST(FetchAhead, IsOffUnlessTheSourceSaysThatItPays) {
  for (std::uint32_t const in_flight : {0u, 1u}) {
    SourceHints hints = kHints;
    hints.requests_in_flight = in_flight;
    Behind far(hints);
    expect_right(read(far.dataset, {.threads = 1}));
    EXPECT_EQ(far.line->round_trips(), kTiles);
    EXPECT_EQ(far.line->most_lanes_busy(), 1u);
  }
}

TEST(FetchAhead, CountsRangesOfABatchAndNotBatches) {
  SourceHints hints = kHints;
  hints.batch_bytes = 16 * 256;  // 16 tiles, side by side in the file: one range
  Behind merged(hints);
  expect_right(read(merged.dataset, {.threads = 1}));
  EXPECT_EQ(merged.line->requests(), 16u);
  EXPECT_LE(merged.line->round_trips(), 2u);
}

TEST(FetchAhead, HoldsNoMoreThanTheMemoryLimitAllows) {
  constexpr std::uint64_t kResultBytes = 256 * 256;
  Behind far(kHints);
  HostArray const result = read(far.dataset, {.threads = 1, .memory_limit_bytes = kResultBytes + 8 * 1024});
  expect_right(result);
  EXPECT_GT(far.line->most_lanes_busy(), 1u);
  EXPECT_LT(far.line->most_lanes_busy(), kLanes / 2);
}

TEST(FetchAhead, ReadsWithoutMemoryToSpare) {
  Behind far(kHints);
  std::uint64_t const least = read(far.dataset).bytes().size() + plan(far.dataset, {.threads = 1}).scratch_bytes();
  far.line->reset();
  expect_right(read(far.dataset, {.threads = 1, .memory_limit_bytes = least}));
  EXPECT_EQ(far.line->most_lanes_busy(), 1u);
}

TEST(FetchAhead, CountsTheBytesOfAllBatches) {
  ReadReport ahead, one_by_one;
  static_cast<void>(read(Behind(kHints).dataset, {}, &ahead));
  static_cast<void>(read(Behind({.merge_gap_bytes = 0, .batch_bytes = 1}).dataset, {}, &one_by_one));
  EXPECT_EQ(ahead.bytes_read, one_by_one.bytes_read);
  EXPECT_EQ(ahead.tiles, kTiles);
}

// Damaged tiles at 40 and 200.
std::vector<std::byte> damaged_file() {
  auto const damage = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 40 || block == 200) { bytes.resize(20); }
    if (block == 100) { bytes.clear(); }
  };
  return image<std::uint8_t>({.width = 256,
                              .height = 256,
                              .tile_width = 16,
                              .tile_height = 16,
                              .compression = kPackBits,
                              .edit = damage})
      .bytes();
}

TEST(FetchAhead, ReportsTheFirstBadTile) {
  for (unsigned const threads : {1u, 3u}) {
    Behind far(kHints, damaged_file());
    Error const error = failure_of([&] { return read(far.dataset, {.threads = threads}); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.where().tile, (TileId{40 % 16, 40 / 16, 0}));
  }
}

TEST(FetchAhead, FillsBadTilesAsAReadWithoutItDoes) {
  std::vector<std::byte> const bytes = damaged_file();
  ReadReport expected, found;
  HostArray const near = read(open_memory(bytes), {.bad_tile = BadTile::fill}, &expected);
  HostArray const far = read(Behind(kHints, bytes).dataset, {.bad_tile = BadTile::fill}, &found);
  EXPECT_TRUE(std::ranges::equal(near.bytes(), far.bytes()));
  EXPECT_EQ(found.bad_tiles.size(), expected.bad_tiles.size());
  EXPECT_EQ(found.sparse_tiles, expected.sparse_tiles);
}

// The source fails from some offset on; every read in flight ends before the error is thrown.
TEST(FetchAhead, GivesTheErrorOfASourceThatFailsMidway) {
  std::vector<std::byte> const& bytes = file_of_256_tiles();
  std::atomic<std::uint64_t> fails_from{~std::uint64_t{0}};
  std::atomic<int> running{0};
  auto const read_at = [&](std::uint64_t offset, std::span<std::byte> into) {
    ++running;
    bool const fails = offset >= fails_from;
    if (!fails) { std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin()); }
    --running;
    if (fails) { throw std::runtime_error("line is down"); }
    return into.size();
  };
  Dataset const dataset = open(callback_source("far", bytes.size(), read_at, kHints));
  std::uint64_t const tile_100 = plan(dataset).tile(100).offset_bytes;
  fails_from = tile_100;
  Error const error = failure_of([&] { return read(dataset); });
  EXPECT_EQ(running, 0);
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().source, "far");
  fails_from = ~std::uint64_t{0};
  expect_right(read(dataset));
}

TEST(FetchAhead, EndsWhenTheReadIsCancelled) {
  Behind far(kHints);
  auto const stop = [](std::uint64_t done, std::uint64_t) { return done < 10; };
  EXPECT_EQ(failure_of([&] { return read(far.dataset, {.threads = 1, .progress = stop}); }).kind(),
            ErrorKind::cancelled);
  EXPECT_LT(far.line->requests(), kTiles);
  expect_right(read(far.dataset));
}

TEST(FetchAhead, DoesNotTakeAllTasksOfASparseRaster) {
  auto const empty = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.clear(); };
  std::vector<std::byte> const bytes =
      image<std::uint8_t>(
          {.width = 256, .height = 256, .tile_width = 16, .tile_height = 16, .compression = kPackBits, .edit = empty})
          .bytes();
  Behind far(kHints, bytes);
  ReadReport report;
  std::vector<std::uint64_t> told;
  auto const note = [&](std::uint64_t done, std::uint64_t) {
    told.push_back(done);
    return true;
  };
  static_cast<void>(read(far.dataset, {.threads = 1, .progress = note}, &report));
  EXPECT_EQ(report.sparse_tiles, kTiles);
  EXPECT_EQ(told.front(), 1u);
}

}  // namespace
}  // namespace terrazzo::reading
