// SPDX-License-Identifier: Apache-2.0
//
// What is decided without a device; placing_test.cpp runs the decisions.
#include "read/device/work.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>

namespace terrazzo::reading {
namespace {

// ---------------------------------------------------------------------------------------------------------------
// Formats that can share a batch

TEST(SameFormat, IsWhatABatchCanShare) {
  ImageSpec const spec{.width = 40, .height = 40, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  auto const level = [](Opened const& opened) -> Level const& { return *opened->shared_impl()->levels[0]; };
  Opened const one(image<std::uint16_t>(spec));
  ImageSpec other_size = spec;
  other_size.width = 100;
  EXPECT_TRUE(same_format(level(one), level(Opened(image<std::uint16_t>(other_size))))) << "rasters may differ in size";
  EXPECT_FALSE(same_format(level(one), level(Opened(image<std::int16_t>(spec)))));
  EXPECT_FALSE(same_format(level(one), level(Opened(image<std::uint8_t>(spec)))));
  ImageSpec tiles = spec, planes = spec, order = spec, stored = spec, bands = spec;
  tiles.tile_width = 32;
  planes.bands = bands.bands = 2;
  planes.separate = true;
  order.order = std::endian::big;
  stored.compression = kNone;
  for (ImageSpec const& other : {tiles, planes, order, stored, bands}) {
    EXPECT_FALSE(same_format(level(one), level(Opened(image<std::uint16_t>(other)))));
  }
  Opened const interleaved(image<std::uint16_t>(bands)), separate(image<std::uint16_t>(planes));
  EXPECT_FALSE(same_format(level(interleaved), level(separate)));
}

TEST(SortByFormat, PutsWhatCanShareBatchesTogetherAndLevelsTogetherInThere) {
  ImageSpec const spec{.width = 40, .height = 40, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  ImageSpec stored = spec;
  stored.compression = kNone;
  Opened const a(image<std::uint16_t>(spec)), b(image<std::uint16_t>(stored)), c(image<std::uint16_t>(spec)),
      d(image<std::uint16_t>(stored));
  std::vector<ReadJob> jobs;
  for (Opened const* const opened : {&d, &a, &b, &c, &a, &d}) {
    jobs.push_back({make_plan((*opened)->shared_impl(), {}), static_cast<std::int64_t>(jobs.size())});
  }
  sort_by_format(jobs);
  int runs = 1, levels = 1;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    runs += !same_format(*jobs[i - 1].plan->level, *jobs[i].plan->level);
    levels += jobs[i - 1].plan->level != jobs[i].plan->level;
  }
  EXPECT_EQ(runs, 2) << "by the order in which files were opened there were four";
  EXPECT_EQ(levels, 4);
}

// ---------------------------------------------------------------------------------------------------------------
// Which tiles

ReadJob job_of(Opened const& opened, ReadRequest const& request = {}, std::int64_t offset = 0) {
  return {make_plan(opened->shared_impl(), request), offset};
}

ImageSpec tiled(std::uint16_t compression) {
  return {.width = 40, .height = 40, .tile_width = 16, .tile_height = 16, .compression = compression};
}

TEST(CollectWork, TakesEachTileOnceForAllWindows) {
  Opened const first(image<std::uint8_t>(tiled(kPackBits))), second(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const jobs[] = {
      job_of(second, {.window = Window{0, 0, 20, 10}}), job_of(first, {.window = Window{8, 0, 20, 10}}),
      job_of(first, {.window = Window{0, 0, 20, 10}}), job_of(first, {.window = Window{0, 0, 20, 10}})};
  DeviceWork const work = collect_work(jobs, DeviceMethod::packbits);
  ASSERT_EQ(work.tiles.size(), 4u) << "two of each file";
  std::vector<std::size_t> uses;
  std::uint64_t input_bytes = 0;
  for (WorkTile const& tile : work.tiles) {
    uses.push_back(tile.use_count);
    input_bytes += tile.size_bytes;
    EXPECT_EQ(tile.decoded_bytes, 256u);
    for (std::size_t u = 0; u < tile.use_count; ++u) {
      BlockUse const& use = work.uses[tile.first_use + u];
      ReadPlan::Impl const& plan = *jobs[use.job].plan;
      EXPECT_EQ(plan.level.get(), tile.level);
      EXPECT_EQ(plan.block_number(plan.block_id(use.index)), tile.block);
    }
  }
  std::ranges::sort(uses);
  EXPECT_EQ(uses, (std::vector<std::size_t>{1, 1, 3, 3}));
  EXPECT_EQ(work.uses.size(), 8u);
  EXPECT_EQ(work.input_bytes, input_bytes);
  EXPECT_EQ(work.max_decoded_bytes, 256u);
  EXPECT_TRUE(
      std::ranges::is_sorted(work.tiles, {}, [](WorkTile const& t) { return std::pair(t.level->id, t.block); }));
}

TEST(CollectWork, SetsSparseTilesApart) {
  ImageSpec spec = tiled(kPackBits);
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1 || block == 8) { bytes.clear(); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened);
  DeviceWork const work = collect_work({&job, 1}, DeviceMethod::packbits);
  EXPECT_EQ(work.tiles.size(), 7u);
  ASSERT_EQ(work.sparse_tiles.size(), 2u);
  EXPECT_EQ(work.sparse_tiles[0].block, 1u);
  EXPECT_EQ(work.sparse_tiles[1].block, 8u);
  EXPECT_TRUE(work.host_tiles.empty());
}

TEST(CollectWork, LeavesShortRawTilesToTheHostAndTakesNoSurplus) {
  ImageSpec spec = tiled(kNone);
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 2) { bytes.pop_back(); }
    if (block == 3) { bytes.resize(bytes.size() + 100); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened);
  DeviceWork const work = collect_work({&job, 1}, DeviceMethod::raw);
  ASSERT_EQ(work.host_tiles.size(), 1u);
  EXPECT_EQ(work.host_tiles[0].block, 2u);
  for (WorkTile const& tile : work.tiles) { EXPECT_EQ(tile.size_bytes, 256u) << tile.block; }
}

TEST(CollectWork, LeavesRangesOutsideTheFileToTheHost) {
  testing::TiffBuilder builder;
  std::uint32_t const at = static_cast<std::uint32_t>(builder.data(packbits(std::vector<std::byte>(256))));
  builder.longs(256, {48}).longs(257, {16}).shorts(258, {8}).shorts(259, {kPackBits}).shorts(262, {1}).shorts(277, {1});
  builder.longs(322, {16}).longs(323, {16}).longs(324, {at, 0x70000000, at}).longs(325, {258, 258, 0x7FFFFFFF});
  Opened const opened(builder);
  ReadJob const job = job_of(opened);
  DeviceWork const work = collect_work({&job, 1}, DeviceMethod::packbits);
  EXPECT_EQ(work.tiles.size(), 1u);
  EXPECT_EQ(work.host_tiles.size(), 2u);
  EXPECT_EQ(work.input_bytes, 258u) << "nothing is reserved for them";
}

TEST(CollectWork, LeavesTheShortLastStripOfImageCodecsToTheHost) {
  ImageSpec const spec{.width = 10, .height = 10, .rows_per_strip = 4, .compression = kPackBits};
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened);
  for (DeviceMethod const method : {DeviceMethod::jpeg, DeviceMethod::jpeg2000}) {
    DeviceWork const work = collect_work({&job, 1}, method);
    EXPECT_EQ(work.tiles.size(), 2u);
    ASSERT_EQ(work.host_tiles.size(), 1u);
    EXPECT_EQ(work.host_tiles[0].block, 2u);
    EXPECT_EQ(work.host_tiles[0].decoded_bytes, 20u);
  }
  EXPECT_EQ(collect_work({&job, 1}, DeviceMethod::lzw).tiles.size(), 3u);
}

TEST(CollectWork, SkipsTilesThatResamplingSkips) {
  ImageSpec spec = tiled(kPackBits);
  spec.width = spec.height = 160;
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened, {.target_size = TargetSize{3, 2}});
  EXPECT_GT(job.plan->block_count(), 6u);
  DeviceWork const work = collect_work({&job, 1}, DeviceMethod::packbits);
  EXPECT_EQ(work.tiles.size(), 6u);
}

TEST(CollectWork, EndsWhenTheReadIsCancelled) {
  Opened const opened(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const job = job_of(opened);
  std::atomic<bool> cancel{false};
  EXPECT_EQ(collect_work({&job, 1}, DeviceMethod::packbits, {.cancel = &cancel}).tiles.size(), 9u);
  cancel = true;
  Error const error = failure_of([&] {
    static_cast<void>(collect_work({&job, 1}, DeviceMethod::packbits, {.cancel = &cancel}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::cancelled);
}

TEST(CollectWork, CountsItsListsInTheMemoryLimit) {
  Opened const opened(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const job = job_of(opened);
  MemoryBudget budget(4096);
  {
    DeviceWork const work = collect_work({&job, 1}, DeviceMethod::packbits, {.budget = &budget});
    EXPECT_GE(budget.used_bytes(), 9 * sizeof(WorkTile));
  }
  EXPECT_EQ(budget.used_bytes(), 0u) << "given back with the lists";
  MemoryBudget small(9 * sizeof(WorkTile));
  Error const error = failure_of([&] {
    static_cast<void>(collect_work({&job, 1}, DeviceMethod::packbits, {.budget = &small}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  // Of a result of another size, only tiles that it takes pixels of.
  ReadJob const few = job_of(opened, {.target_size = TargetSize{1, 1}});
  EXPECT_EQ(collect_work({&few, 1}, DeviceMethod::packbits, {.budget = &small}).tiles.size(), 1u);
}

TEST(CheckCoverage, AcceptsWorkThatMakesEveryPixel) {
  ImageSpec spec = tiled(kPackBits);
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1) { bytes.clear(); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const jobs[] = {job_of(opened, {.window = Window{3, 5, 20, 30}}),
                          job_of(opened, {.window = Window{10, 5, 20, 30}})};
  EXPECT_NO_THROW(check_coverage(jobs, collect_work(jobs, DeviceMethod::packbits)));
  ReadJob const resampled = job_of(opened, {.target_size = TargetSize{7, 11}});
  EXPECT_NO_THROW(check_coverage({&resampled, 1}, collect_work({&resampled, 1}, DeviceMethod::packbits)));
}

TEST(CheckCoverage, FindsATileThatIsNotThere) {
  Opened const opened(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const job = job_of(opened);
  for (std::size_t skipped = 0; skipped < 9; ++skipped) {
    DeviceWork work = collect_work({&job, 1}, DeviceMethod::packbits);
    work.tiles.erase(work.tiles.begin() + static_cast<std::ptrdiff_t>(skipped));
    EXPECT_THROW(check_coverage({&job, 1}, work), std::logic_error) << skipped;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// How they are cut

TEST(InputOffsets, AreAlignedAsTheDecoderWants) {
  for (std::uint64_t end = 0; end < 70; ++end) {
    for (DeviceMethod const method :
         {DeviceMethod::raw, DeviceMethod::lzw, DeviceMethod::packbits, DeviceMethod::zstd, DeviceMethod::jpeg2000}) {
      std::uint64_t const at = input_offset(method, end);
      EXPECT_EQ(at % 16, 0u);
      EXPECT_TRUE(at >= end && at < end + 16);
    }
    std::uint64_t const deflate = input_offset(DeviceMethod::deflate, end);
    EXPECT_EQ(deflate % 16, 14u) << "the stream follows a header of two bytes";
    EXPECT_TRUE(deflate >= end && deflate < end + 16);
    std::uint64_t const jpeg = input_offset(DeviceMethod::jpeg, end);
    EXPECT_EQ(jpeg % 16, 0u);
    EXPECT_GE(jpeg, end + kJpegHeadroomBytes);
    EXPECT_EQ(output_offset(end) % 16, 0u);
    EXPECT_TRUE(output_offset(end) >= end && output_offset(end) < end + 16);
  }
}

DeviceWork work_of(std::vector<std::pair<std::uint64_t, std::uint64_t>> const& sizes) {
  DeviceWork work;
  for (auto const& [input, output] : sizes) {
    work.tiles.push_back({.size_bytes = input, .decoded_bytes = output, .use_count = 2});
  }
  work.device_tiles = work.tiles.size();
  return work;
}

void expect_sound(DeviceWork const& work, std::vector<WorkBatch> const& batches, DeviceMethod method,
                  std::uint64_t max_tiles, std::uint64_t max_bytes) {
  std::size_t next = 0;
  for (WorkBatch const& batch : batches) {
    EXPECT_EQ(batch.first_tile, next);
    EXPECT_GT(batch.tile_count, 0u);
    EXPECT_LE(batch.tile_count, max_tiles);
    if (batch.tile_count > 1) { EXPECT_LE(batch.input_bytes + batch.output_bytes, max_bytes); }
    EXPECT_EQ(batch.placement_count, batch.tile_count * 2);
    std::uint64_t input_end = 0, output_end = 0;
    for (std::size_t t = next; t < next + batch.tile_count; ++t) {
      WorkTile const& tile = work.tiles[t];
      EXPECT_EQ(tile.input_offset, input_offset(method, input_end));
      EXPECT_EQ(tile.output_offset, output_offset(output_end));
      input_end = tile.input_offset + tile.size_bytes;
      output_end = tile.output_offset + tile.decoded_bytes;
    }
    EXPECT_EQ(batch.input_bytes, input_end);
    EXPECT_EQ(batch.output_bytes, output_end);
    next += batch.tile_count;
  }
  EXPECT_EQ(next, work.tiles.size()) << "every tile is in one batch";
}

TEST(CutBatches, KeepsBothLimitsAndAlwaysTakesOneTile) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (std::uint64_t i = 0; i < 100; ++i) { sizes.emplace_back(1 + i * 37 % 500, i % 10 == 3 ? 9000 : 1000 + i); }
  for (DeviceMethod const method : {DeviceMethod::raw, DeviceMethod::deflate, DeviceMethod::jpeg, DeviceMethod::zstd}) {
    for (std::uint64_t const tiles : {1u, 2u, 7u, 1000u}) {
      for (std::uint64_t const bytes :
           {std::uint64_t{0}, std::uint64_t{5000}, std::uint64_t{30000}, std::uint64_t{1} << 40}) {
        DeviceWork work = work_of(sizes);
        auto const batches = cut_batches(work, method, tiles, bytes);
        expect_sound(work, batches, method, tiles, bytes);
        if (bytes == 0) { EXPECT_EQ(batches.size(), sizes.size()); }
        if (tiles == 1000 && bytes > 1 << 30) { EXPECT_EQ(batches.size(), 1u); }
      }
    }
  }
}

TEST(CutBatches, KeepTilesOfTheHostApart) {
  DeviceWork work = work_of(std::vector<std::pair<std::uint64_t, std::uint64_t>>(10, {100, 1000}));
  for (std::size_t const device : {0u, 1u, 7u, 10u}) {
    work.device_tiles = device;
    auto const batches = cut_batches(work, DeviceMethod::deflate, 4, 1 << 20);
    expect_sound(work, batches, DeviceMethod::deflate, 4, 1 << 20);
    for (WorkBatch const& batch : batches) {
      EXPECT_EQ(batch.on_host, batch.first_tile >= device);
      EXPECT_EQ(batch.on_host, batch.first_tile + batch.tile_count > device) << "no batch is of both";
    }
  }
}

TEST(ShareWithHost, LeavesTheLastTilesToTheHostAsFinishedRows) {
  ImageSpec const spec{.width = 10, .height = 10, .rows_per_strip = 3, .compression = kPackBits};
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened);
  for (double const share : {0.0, 0.3, 0.5, 1.0}) {
    DeviceWork work = collect_work({&job, 1}, DeviceMethod::deflate);
    share_with_host(work, DeviceMethod::deflate, share, 40);
    ASSERT_EQ(work.tiles.size(), 4u);
    EXPECT_EQ(work.device_tiles, 4 - static_cast<std::size_t>(4 * share)) << share;
    std::uint64_t device_bytes = 0;
    for (std::size_t t = 0; t < 4; ++t) {
      std::uint64_t const rows = t == 3 ? 1 : 3;
      if (t < work.device_tiles) { device_bytes += work.tiles[t].size_bytes; }
      EXPECT_EQ(work.tiles[t].size_bytes == 0, t >= work.device_tiles) << "nothing compressed goes up";
      EXPECT_EQ(work.tiles[t].decoded_bytes, rows * (t < work.device_tiles ? 10 : 40));
    }
    EXPECT_EQ(work.input_bytes, device_bytes);
  }
  DeviceWork all = collect_work({&job, 1}, DeviceMethod::host);
  share_with_host(all, DeviceMethod::host, 0, 40);
  EXPECT_EQ(all.device_tiles, 0u) << "there is no device decoder";
}

TEST(CutBatches, OfNothingAreNone) {
  DeviceWork work;
  EXPECT_TRUE(cut_batches(work, DeviceMethod::lzw, 10, 1000).empty());
}

// ---------------------------------------------------------------------------------------------------------------
// Where they go

tile::ResultFormat strides(std::int64_t band, std::int64_t row, std::int64_t pixel, std::uint32_t bands) {
  tile::ResultFormat result;
  result.bands = bands;
  result.band_stride_bytes = band;
  result.row_stride_bytes = row;
  result.pixel_stride_bytes = pixel;
  return result;
}

TEST(PlacementOf, IsThePartOfTheTileThatTheWindowCovers) {
  Opened const opened(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const jobs[] = {job_of(opened), job_of(opened, {.window = Window{10, 20, 25, 15}}, 1000)};
  tile::Placement const last = placement_of(jobs, {0, 8}, strides(1600, 40, 1, 1));
  EXPECT_EQ(last.destination_offset_bytes, 32 * 40 + 32);
  EXPECT_EQ(std::pair(last.rows, last.columns), std::pair(8u, 8u)) << "not the padding of an edge tile";
  EXPECT_EQ(std::pair(last.first_row, last.first_column), std::pair(0u, 0u));
  // Blocks of the window: rows 1 and 2, columns 0 to 2; index 0 is (row 1, column 0).
  tile::Placement const corner = placement_of(jobs, {1, 0}, strides(375, 25, 1, 1));
  EXPECT_EQ(corner.destination_offset_bytes, 1000);
  EXPECT_EQ(std::pair(corner.first_row, corner.first_column), std::pair(4u, 10u));
  EXPECT_EQ(std::pair(corner.rows, corner.columns), std::pair(12u, 6u));
  EXPECT_EQ(corner.bands_index, 1u) << "of the second job";
  tile::Placement const inner = placement_of(jobs, {1, 4}, strides(375, 25, 1, 1));
  EXPECT_EQ(inner.destination_offset_bytes, 1000 + 12 * 25 + 6);
  EXPECT_EQ(std::pair(inner.rows, inner.columns), std::pair(3u, 16u));
}

TEST(PlacementOf, FollowsNegativeStrides) {
  Opened const opened(image<std::uint8_t>(tiled(kPackBits)));
  ReadJob const job = job_of(opened);
  tile::Placement const p = placement_of({&job, 1}, {0, 5}, strides(1600, -40, -1, 1));
  EXPECT_EQ(p.destination_offset_bytes, -(16 * 40) - 32);
}

TEST(PlacementOf, CountsResampledRowsFromTheWindow) {
  ImageSpec spec = tiled(kPackBits);
  spec.width = spec.height = 160;
  Opened const opened(image<std::uint8_t>(spec));
  ReadJob const job = job_of(opened, {.window = Window{20, 40, 100, 80}, .target_size = TargetSize{10, 8}});
  for (std::uint64_t i = 0; i < job.plan->block_count(); ++i) {
    tile::Placement const p = placement_of({&job, 1}, {0, i}, strides(80, 10, 1, 1));
    EXPECT_EQ(p.destination_offset_bytes, std::int64_t{p.result_row} * 10 + p.result_column);
    for (std::uint32_t r = 0; r < p.rows; ++r) {
      std::int64_t const in_tile = job.plan->source_rows[p.result_row + r] + p.row_origin;
      EXPECT_TRUE(in_tile >= 0 && in_tile < 16) << "block " << i;
    }
    for (std::uint32_t c = 0; c < p.columns; ++c) {
      std::int64_t const in_tile = job.plan->source_columns[p.result_column + c] + p.column_origin;
      EXPECT_TRUE(in_tile >= 0 && in_tile < 16) << "block " << i;
    }
  }
}

TEST(BandTargets, AreSamplesOfAPixelOrPlanes) {
  ImageSpec spec = tiled(kPackBits);
  spec.bands = 3;
  Opened const pixels(image<std::uint8_t>(spec));
  spec.separate = true;
  Opened const planes(image<std::uint8_t>(spec));
  auto const of_pixels = band_targets(*job_of(pixels, {.bands = {3, 1, 3}}).plan);
  auto const of_planes = band_targets(*job_of(planes, {.bands = {3, 1, 3}}).plan);
  std::uint32_t const wanted[] = {2, 0, 2};
  ASSERT_EQ(of_pixels.size(), 3u);
  ASSERT_EQ(of_planes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::pair(of_pixels[i].sample, of_pixels[i].plane), std::pair(wanted[i], 0u));
    EXPECT_EQ(std::pair(of_planes[i].sample, of_planes[i].plane), std::pair(0u, wanted[i]));
  }
}

TEST(BandTargets, HoldTheFillValueAsItIsInTheResult) {
  testing::TiffBuilder builder = image<std::uint8_t>(tiled(kPackBits));
  builder.ascii(42113, "77");
  Opened const opened(builder);
  auto const stored = band_targets(*job_of(opened).plan);
  EXPECT_EQ(stored[0].fill[0], std::byte{77});
  auto const as_float = band_targets(*job_of(opened, {.dtype = DType::f32}).plan);
  float value = 0;
  std::memcpy(&value, as_float[0].fill, sizeof value);
  EXPECT_EQ(value, 77.f);
  auto const masked = band_targets(*job_of(opened, {.masked = true}).plan);
  double invalid = 0;
  std::memcpy(&invalid, masked[0].fill, sizeof invalid);
  EXPECT_NE(invalid, invalid);
  EXPECT_TRUE(masked[0].transform.mask_nodata);
}

}  // namespace
}  // namespace terrazzo::reading
