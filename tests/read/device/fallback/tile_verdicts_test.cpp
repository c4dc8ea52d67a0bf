// SPDX-License-Identifier: Apache-2.0
//
// Tiles that the host decodes for a device read with the last word: placed by the twin of the kernel, they are what the
// host engine gives, fills and errors included.
#include "read/device/fallback/tile_verdicts.hpp"

#include "read/device/fallback/host_tiles.hpp"
#include "read/images.hpp"
#include "read/read_twin.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::Bytes;

// As the engine does when a device decoder calls no tile good. Sparse tiles must not be.
Bytes settle_by_twin(Dataset const& dataset, ReadRequest const& request, ReadReport& report) {
  ReadJob const job{make_plan(dataset.shared_impl(), request)};
  std::span<ReadJob const> const jobs{&job, 1};
  ReadPlan::Impl const& plan = *job.plan;
  DeviceWork work = collect_work(jobs, DeviceMethod::raw);
  EXPECT_TRUE(work.sparse_tiles.empty());
  work.tiles.insert(work.tiles.end(), work.host_tiles.begin(), work.host_tiles.end());
  tile::RowFormat const finished = finished_format(*plan.level, plan.dataset->trusted);
  share_with_host(work, DeviceMethod::host, 0, finished.finished_row_bytes);
  tile::ResultFormat result = test::contiguous(plan);
  Bytes memory(std::size_t{result.bands} * plan.out_height * plan.out_width * result.sample_bytes, std::byte{0xCD});
  result.data = memory.data();
  result.separate_planes = plan.level->has_band_planes();
  result.plain = result.dtype == plan.level->dtype &&
                 std::ranges::all_of(plan.transforms, [](auto const& t) { return t.is_identity(); });
  std::vector<tile::BandTarget> const bands = band_targets(plan);
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  TileVerdicts verdicts(jobs, work.uses, request);
  for (WorkBatch const& batch : cut_batches(work, DeviceMethod::host, 3, 1 << 20)) {
    std::span<WorkTile const> const tiles = std::span(work.tiles).subspan(batch.first_tile, batch.tile_count);
    Bytes decoded(batch.output_bytes, std::byte{0xAB});
    std::vector<tile::TileStatus> statuses(batch.tile_count, tile::TileStatus::sparse);
    settle_host_tiles(tiles, plan.dataset->trusted, budget, verdicts, statuses,
                      [&](std::uint64_t at, std::span<std::byte const> row) {
                        ASSERT_LE(at + row.size(), decoded.size());
                        std::ranges::copy(row, decoded.begin() + static_cast<std::ptrdiff_t>(at));
                      });
    std::vector<tile::Placement> placements;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      for (std::size_t u = 0; u < tiles[i].use_count; ++u) {
        tile::Placement placement = placement_of(jobs, work.uses[tiles[i].first_use + u], result);
        placement.source_offset_bytes = tiles[i].output_offset;
        placement.tile = static_cast<std::uint32_t>(i);
        placements.push_back(placement);
      }
    }
    tile::test::place_on_host({.decoded = decoded.data(),
                               .format = finished,
                               .placements = placements,
                               .bands = bands,
                               .result = result,
                               .statuses = statuses,
                               .source_columns = plan.source_columns,
                               .source_rows = plan.source_rows});
  }
  verdicts.finish(report);
  return memory;
}

void expect_what_the_host_gives(Dataset const& dataset, ReadRequest const& request) {
  ReadReport wanted_report, report;
  HostArray const wanted = read(dataset, request, &wanted_report);
  Bytes const got = settle_by_twin(dataset, request, report);
  EXPECT_TRUE(std::ranges::equal(got, wanted.bytes()));
  ASSERT_EQ(report.bad_tiles.size(), wanted_report.bad_tiles.size());
  for (std::size_t i = 0; i < report.bad_tiles.size(); ++i) {
    EXPECT_EQ(report.bad_tiles[i].tile, wanted_report.bad_tiles[i].tile);
    EXPECT_EQ(report.bad_tiles[i].message, wanted_report.bad_tiles[i].message);
  }
}

// Blocks 1 and 3 end early, block 2 is no PackBits.
testing::TiffBuilder damaged(std::uint16_t compression, bool separate, bool tiled) {
  testing::TiffBuilder builder = image<std::int16_t>({.width = 50,
                                                      .height = 40,
                                                      .bands = 3,
                                                      .tile_width = tiled ? 16u : 0u,
                                                      .tile_height = tiled ? 16u : 0u,
                                                      .rows_per_strip = 11,
                                                      .separate = separate,
                                                      .compression = compression,
                                                      .edit = [](std::uint64_t block, Bytes& bytes) {
                                                        if (block == 1 || block == 3) {
                                                          bytes.resize(bytes.size() / 2);
                                                        }
                                                        if (block == 2) { bytes.resize(7, std::byte{0x80}); }
                                                      }});
  builder.ascii(42113, "77");
  return builder;
}

TEST(TileVerdicts, FillAsTheHostEngineDoes) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    for (bool const separate : {false, true}) {
      for (bool const tiled : {false, true}) {
        SCOPED_TRACE(::testing::Message() << compression << (separate ? " planes" : " pixels") << tiled);
        Opened const opened(damaged(compression, separate, tiled));
        ReadRequest request{.bad_tile = BadTile::fill};
        expect_what_the_host_gives(*opened, request);
        request.bands = {3, 1};
        request.dtype = DType::f32;
        expect_what_the_host_gives(*opened, request);
        request.window = Window{5, 3, 40, 30};
        request.unpack = true;
        expect_what_the_host_gives(*opened, request);
        request.window.reset();
        request.target_size = TargetSize{23, 17};
        expect_what_the_host_gives(*opened, request);
      }
    }
  }
}

TEST(TileVerdicts, ThrowWhatTheHostEngineThrows) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    for (bool const tiled : {false, true}) {
      Opened const opened(damaged(compression, false, tiled));
      for (Window const& window : {Window{0, 0, 50, 40}, Window{0, 20, 50, 20}, Window{20, 0, 20, 40}}) {
        ReadRequest const request{.window = window};
        auto const wanted = testing::kind_of_failure([&] { return read(*opened, request); });
        ReadReport report;
        auto const got = testing::kind_of_failure([&] { return settle_by_twin(*opened, request, report); });
        ASSERT_EQ(got, wanted);
        if (!wanted) { continue; }
        Error const host = failure_of([&] { return read(*opened, request); });
        Error const settled = failure_of([&] { return settle_by_twin(*opened, request, report); });
        EXPECT_EQ(settled.where().tile, host.where().tile);
        EXPECT_EQ(settled.message(), host.message());
        EXPECT_EQ(settled.where().source, host.where().source);
      }
    }
  }
}

TEST(TileVerdicts, LeaveRowsAloneThatNoJobTakesOfABlockThatIsNotCompressed) {
  Opened const opened(damaged(kNone, false, false));
  // The upper rows of strip 1, which is short.
  ReadRequest const request{.window = Window{0, 11, 50, 4}};
  ReadReport report;
  HostArray const wanted = read(*opened, request);
  EXPECT_TRUE(std::ranges::equal(settle_by_twin(*opened, request, report), wanted.bytes()));
  EXPECT_TRUE(report.bad_tiles.empty());
}

}  // namespace
}  // namespace terrazzo::reading
