// SPDX-License-Identifier: Apache-2.0
//
// One block at a time: which pixels of the result it may touch, and which of its own they get.
#include "read/host/block_placer.hpp"

#include "read/host/read_context_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace terrazzo::reading {
namespace {

using test::PlannedRead;

ImageSpec const kTiles{.width = 40, .height = 36, .tile_width = 16, .tile_height = 16};

struct Placed : PlannedRead {
  Placed(ImageSpec const& spec, ReadRequest const& asked, TileId const& id)
      : PlannedRead(spec, asked),
        raw(*plan->level, read.method, budget, scratch),
        placer(read, raw.layout(), scratch),
        part{id, plan->covered(id)} {}

  // Reads (not compressed) rows of the block from `first` on.
  void load(std::uint32_t first, std::uint32_t rows) {
    DecodedBlock const block = raw.read(plan->block_number(part.id), first, rows);
    ASSERT_EQ(block.result.status, tile::TileStatus::ok);
    decoded = block.rows;
  }

  // `value` of (row, column) of the result where `is_theirs`, untouched elsewhere.
  using Value = std::function<int(std::uint32_t row, std::uint32_t column)>;
  void expect(Value const& value, std::function<bool(std::uint32_t, std::uint32_t)> const& is_theirs) const {
    for (std::uint32_t r = 0; r < plan->out_height; ++r) {
      for (std::uint32_t c = 0; c < plan->out_width; ++c) {
        int const wanted = is_theirs(r, c) ? value(r, c) : kUntouched;
        ASSERT_EQ(memory[std::size_t{r} * plan->out_width + c], wanted) << r << " " << c;
      }
    }
  }

  ThreadScratch scratch;
  RawRows raw;
  BlockPlacer placer;
  BlockPart part;
  DecodedRows decoded;
};

TEST(BlockPlacer, PlacesWhatTheWindowCoversOfABlock) {
  Window const window{10, 5, 20, 20};
  Placed placed(kTiles, {.window = window}, {.column = 1, .row = 0});
  EXPECT_TRUE(placed.placer.is_wanted(placed.part));
  EXPECT_FALSE(placed.placer.has_whole_rows(placed.part)) << "14 of its 16 columns";
  placed.load(0, 16);
  placed.placer.place_rows(placed.part, placed.decoded, 0, 16);
  placed.expect([&](auto r, auto c) { return value_at<std::uint8_t>(0, window.row + r, window.column + c); },
                [](auto r, auto c) { return r < 11 && c >= 6; });
}

TEST(BlockPlacer, PlacesTheGoodRowsThatWereDecoded) {
  Placed placed(kTiles, {}, {.column = 1, .row = 1});
  EXPECT_TRUE(placed.placer.has_whole_rows(placed.part));
  placed.part.covered = {16, 20, 16, 8};  // a piece of it: rows 4 to 11 of the block, of which 5 are good
  placed.load(4, 8);
  placed.placer.place_rows(placed.part, placed.decoded, 4, 5);
  auto const is_theirs = [](auto r, auto c) { return r >= 20 && r < 25 && c >= 16 && c < 32; };
  placed.expect([](auto r, auto c) { return value_at<std::uint8_t>(0, r, c); }, is_theirs);
}

TEST(BlockPlacer, RepeatsAndSkipsRowsAndColumnsForAnotherSize) {
  for (TargetSize const size : {TargetSize{80, 72}, TargetSize{13, 9}}) {
    Placed placed(kTiles, {.target_size = size}, {.column = 0, .row = 1});
    EXPECT_FALSE(placed.placer.takes_planes());
    EXPECT_EQ(placed.placer.last_row(placed.part), size.height == 72 ? 15u : 14u) << "of source rows 2, 6, ... 30, 34";
    placed.load(0, 16);
    placed.placer.place_rows(placed.part, placed.decoded, 0, 16);
    ReadPlan::Impl const& plan = *placed.plan;
    auto const row = [&](std::uint32_t r) { return plan.window.row + plan.source_rows[r]; };
    auto const column = [&](std::uint32_t c) { return plan.window.column + plan.source_columns[c]; };
    placed.expect([&](auto r, auto c) { return value_at<std::uint8_t>(0, row(r), column(c)); },
                  [&](auto r, auto c) { return row(r) >= 16 && row(r) < 32 && column(c) < 16; });
  }
}

TEST(BlockPlacer, KnowsBlocksThatResamplingSkips) {
  Placed const placed(kTiles, {.target_size = TargetSize{1, 1}}, {.column = 0, .row = 0});
  std::size_t wanted = 0;
  for (std::uint64_t i = 0; i < placed.plan->block_count(); ++i) {
    TileId const id = placed.plan->block_id(i);
    wanted += placed.placer.is_wanted({id, placed.plan->covered(id)}) ? 1 : 0;
  }
  EXPECT_EQ(wanted, 1u);
}

TEST(BlockPlacer, PlacesFinishedRowsOfTheCache) {
  Window const window{10, 5, 20, 20};
  Placed placed(kTiles, {.window = window}, {.column = 0, .row = 0});
  CachedBlock block(256);
  for (std::size_t i = 0; i < 256; ++i) { block.data()[i] = static_cast<std::byte>(i % 251); }
  auto const value = [](auto r, auto c) { return static_cast<int>(((r + 5) * 16 + c + 10) % 251); };
  placed.placer.place_cached(placed.part, block, 3, 5);
  placed.expect(value, [](auto r, auto c) { return r >= 3 && r < 8 && c < 6; });
  placed.placer.place_cached(placed.part, block, 0, 11);
  placed.expect(value, [](auto r, auto c) { return r < 11 && c < 6; });
}

// All of the block is kept, finished; of the result only the part is touched, as place_rows() would.
TEST(BlockPlacer, KeepsABlockWhileItIsPlaced) {
  struct Case {
    ReadRequest request;
    TileId id;
    ImageSpec spec = kTiles;
  };
  ImageSpec planes = kTiles;
  planes.bands = 3;
  planes.separate = true;
  for (Case const& one : {Case{{.window = Window{18, 18, 9, 3}}, {.column = 1, .row = 1}},
                          Case{{.window = Window{10, 5, 20, 7}, .bands = {3, 2, 3}}, {.column = 1, .plane = 2}, planes},
                          Case{{.window = Window{10, 5, 20, 20}}, {.column = 1, .row = 0}},
                          Case{{.window = Window{17, 31, 9, 1}}, {.column = 1, .row = 1}},
                          Case{{.window = Window{0, 0, 40, 36}}, {.column = 2, .row = 2}},
                          Case{{.target_size = TargetSize{80, 72}}, {.column = 0, .row = 1}},
                          Case{{.target_size = TargetSize{13, 9}}, {.column = 0, .row = 1}}}) {
    Placed placed(one.spec, one.request, one.id), twin(one.spec, one.request, one.id);
    std::uint32_t const rows = placed.plan->level->image.block_rows(one.id.row);
    placed.load(0, rows);
    twin.load(0, rows);
    CachedBlock block(std::size_t{16} * rows);
    std::fill_n(block.data(), block.size_bytes(), std::byte{Placed::kUntouched});
    placed.placer.place_and_keep(placed.part, placed.decoded, rows, block);
    twin.placer.place_rows(twin.part, twin.decoded, 0, rows);
    EXPECT_EQ(placed.memory, twin.memory) << one.id.column << " " << one.id.row;
    for (std::uint32_t r = 0; r < rows && 16 * one.id.row + r < kTiles.height; ++r) {
      for (std::uint32_t c = 0; c < 16 && 16 * one.id.column + c < kTiles.width; ++c) {
        ASSERT_EQ(std::to_integer<int>(block.data()[16 * r + c]),
                  value_at<std::uint8_t>(one.id.plane, 16 * one.id.row + r, 16 * one.id.column + c))
            << r << " " << c;
      }
    }
  }
}

TEST(BlockPlacer, FillsFromARowOfTheBlockOn) {
  Window const window{10, 5, 20, 20};
  Placed placed(kTiles, {.window = window}, {.column = 1, .row = 0});
  placed.placer.fill(placed.part, 12);
  placed.expect([](auto, auto) { return 0; }, [](auto r, auto c) { return r >= 7 && r < 11 && c >= 6; });
}

TEST(BlockPlacer, PlacesBlocksSideBySide) {
  Placed placed(kTiles, {}, {.column = 0, .row = 1});
  std::vector<tile::TileResult> results(2);
  placed.raw.find(placed.plan->block_number(placed.part.id), {0, 16, 16}, results);
  placed.raw.read_found();
  placed.placer.place_side_by_side(placed.part, placed.raw, 0, 2);
  placed.expect([](auto r, auto c) { return value_at<std::uint8_t>(0, r, c); },
                [](auto r, auto c) { return r >= 16 && r < 32 && c < 32; });
}

}  // namespace
}  // namespace terrazzo::reading
