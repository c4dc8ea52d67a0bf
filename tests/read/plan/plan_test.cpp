// SPDX-License-Identifier: Apache-2.0
#include "read/plan/plan.hpp"

#include "codec/registry/codec.hpp"
#include "read/deflate_image.hpp"
#include "support/sources.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace terrazzo::reading {
namespace {

ImageSpec const kTiles{
    .width = 100, .height = 70, .bands = 3, .tile_width = 32, .tile_height = 32, .compression = kPackBits};

TEST(Plan, TellsWhatAReadOfEverythingWouldDo) {
  Opened const opened(image<std::uint16_t>(kTiles));
  ReadPlan const p = plan(*opened, {.threads = 2});
  EXPECT_EQ(p.level(), 0u);
  EXPECT_EQ(p.window(), (Window{0, 0, 100, 70}));
  EXPECT_EQ(p.width(), 100u);
  EXPECT_EQ(p.height(), 70u);
  EXPECT_EQ(p.bands(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(p.dtype(), DType::u16);
  EXPECT_EQ(p.codec(), "packbits");
  EXPECT_EQ(p.predictor(), 1u);
  EXPECT_EQ(p.tile_count(), 4u * 3);
  EXPECT_EQ(p.result_bytes(), 100u * 70 * 3 * 2);
  EXPECT_EQ(p.threads(), 1u) << "72 KiB are not worth a second";
  EXPECT_GE(p.scratch_bytes(), 32u * 32 * 6);
}

TEST(Plan, ListsTilesInReadingOrderWithTheirParts) {
  Opened const opened(image<std::uint16_t>(kTiles));
  ReadPlan const p = plan(*opened, {.window = Window{30, 40, 40, 30}});
  ASSERT_EQ(p.tile_count(), 3u * 2);
  PlannedTile const first = p.tile(0), second = p.tile(1), last = p.tile(5);
  EXPECT_EQ(first.id, (TileId{0, 1, 0}));
  EXPECT_EQ(first.in_tile, (Window{30, 8, 2, 24}));
  EXPECT_EQ(first.column, 0u);
  EXPECT_EQ(first.row, 0u);
  EXPECT_EQ(second.id, (TileId{1, 1, 0}));
  EXPECT_EQ(second.in_tile, (Window{0, 8, 32, 24}));
  EXPECT_EQ(second.column, 2u);
  EXPECT_EQ(last.id, (TileId{2, 2, 0}));
  EXPECT_EQ(last.in_tile, (Window{0, 0, 6, 6}));
  EXPECT_EQ(last.column, 34u);
  EXPECT_EQ(last.row, 24u);
  EXPECT_GT(last.offset_bytes, first.offset_bytes);
  EXPECT_EQ(last.size_bytes, 32u * 32 * 6 + 48) << "48 literal runs of PackBits";
}

TEST(Plan, TilesCoverTheWindowOnce) {
  Opened const opened(image<std::uint8_t>(kTiles));
  Window const window{17, 9, 71, 55};
  ReadPlan const p = plan(*opened, {.window = window});
  std::vector<int> seen(window.width * window.height, 0);
  for (std::uint64_t i = 0; i < p.tile_count(); ++i) {
    PlannedTile const tile = p.tile(i);
    EXPECT_EQ(tile.id.column * 32 + tile.in_tile.column, window.column + tile.column);
    EXPECT_EQ(tile.id.row * 32 + tile.in_tile.row, window.row + tile.row);
    for (std::uint32_t r = 0; r < tile.in_tile.height; ++r) {
      for (std::uint32_t c = 0; c < tile.in_tile.width; ++c) {
        ++seen[(tile.row + r) * window.width + tile.column + c];
      }
    }
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
}

TEST(Plan, OfSeparatePlanesHasTheTilesOfTheBandsAskedForOnce) {
  ImageSpec spec = kTiles;
  spec.separate = true;
  Opened const opened(image<std::uint8_t>(spec));
  ReadPlan const p = plan(*opened, {.window = Window{0, 0, 10, 10}, .bands = {3, 1, 3}});
  ASSERT_EQ(p.tile_count(), 2u);
  EXPECT_EQ(p.tile(0).id.plane, 0u);
  EXPECT_EQ(p.tile(1).id.plane, 2u);
  EXPECT_EQ(p.bands(), (std::vector<std::uint32_t>{3, 1, 3}));
}

TEST(Plan, TellsSparseTilesByNothing) {
  ImageSpec spec = kTiles;
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1) { bytes.clear(); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  PlannedTile const tile = plan(*opened).tile(1);
  EXPECT_EQ(tile.size_bytes, 0u);
  EXPECT_EQ(tile.offset_bytes, 0u);
}

TEST(Plan, RefusesATileThatItDoesNotHave) {
  Opened const opened(image<std::uint8_t>(kTiles));
  ReadPlan const p = plan(*opened);
  EXPECT_NO_THROW(static_cast<void>(p.tile(11)));
  for (std::uint64_t const index : {std::uint64_t{12}, ~std::uint64_t{0}}) {
    EXPECT_EQ(failure_of([&] { static_cast<void>(p.tile(index)); }).kind(), ErrorKind::usage);
  }
}

TEST(Plan, TakesNoMoreThreadsThanThereIsWork) {
  ImageSpec spec{.width = 1024, .height = 1024, .tile_width = 64, .tile_height = 64, .compression = kPackBits};
  Opened const tiles(image<std::uint8_t>(spec));
  EXPECT_EQ(plan(*tiles, {.window = Window{0, 0, 10, 10}, .threads = 16}).threads(), 1u) << "one tile";
  EXPECT_EQ(plan(*tiles, {.threads = 3}).threads(), 3u);
  EXPECT_EQ(plan(*tiles, {.threads = 500}).threads(), 8u) << "one for every 128 KiB";
  spec.compression = kNone;
  Opened const raw(image<std::uint8_t>(spec));
  EXPECT_EQ(plan(*raw, {.threads = 500}).threads(), 8u) << "one for every 128 KiB";
  EXPECT_EQ(plan(*raw, {.window = Window{0, 0, 500, 500}, .threads = 500}).threads(), 1u)
      << "less is copied faster than a thread wakes";
  EXPECT_EQ(plan(*tiles, {.threads = 3}).scratch_bytes(), 3 * plan(*tiles, {.threads = 1}).scratch_bytes());
}

// Two at a time must not leave a thread idle that could have had one of them.
TEST(Plan, TakesTwoBlocksAtATimeWhereThatCostsNoTurn) {
  if (codec::find_codec(tiff::Compression::deflate)->blocks_at_once < 2) { GTEST_SKIP() << "never faster here"; }
  ImageSpec spec{.width = 512, .height = 1024, .tile_width = 256, .tile_height = 256};
  Opened const deflate(deflate_image(spec));
  auto const takes_two = [](Opened const& opened, ReadRequest const& request) {
    return reading::make_plan(opened->shared_impl(), request)->blocks_at_once == 2;
  };
  EXPECT_TRUE(takes_two(deflate, {.threads = 1})) << "eight turns";
  EXPECT_TRUE(takes_two(deflate, {.threads = 2}));
  EXPECT_FALSE(takes_two(deflate, {.threads = 3})) << "three turns would be four";
  EXPECT_TRUE(takes_two(deflate, {.threads = 4})) << "two turns are one";
  EXPECT_FALSE(takes_two(deflate, {.threads = 8})) << "a tile each";
  EXPECT_FALSE(takes_two(deflate, {.window = Window{0, 0, 200, 200}, .threads = 1})) << "one tile";
  EXPECT_FALSE(takes_two(deflate, {.threads = 1, .memory_limit_bytes = 1'500'000})) << "no memory for it";
  EXPECT_GT(plan(*deflate, {.threads = 1}).scratch_bytes(),
            plan(*deflate, {.threads = 1, .memory_limit_bytes = 1'500'000}).scratch_bytes());
  ImageSpec small = spec;
  small.tile_width = small.tile_height = 128;
  EXPECT_FALSE(takes_two(Opened(deflate_image(small)), {.threads = 1})) << "32 KiB are not worth it";
  spec.compression = kPackBits;
  EXPECT_FALSE(takes_two(Opened(image<std::uint16_t>(spec)), {.threads = 1})) << "there is no such decoder";
  spec.compression = kNone;
  EXPECT_FALSE(takes_two(Opened(image<std::uint16_t>(spec)), {.threads = 1}));
}

TEST(Plan, OutlivesItsDataset) {
  auto const bytes = image<std::uint8_t>(kTiles).bytes();
  std::optional<ReadPlan> p;
  {
    Dataset const dataset = open_memory(bytes);
    p = plan(dataset);
  }
  EXPECT_EQ(p->tile(5).id, (TileId{1, 1, 0}));
}

TEST(Plan, OfALevelIsInItsPixels) {
  testing::TiffBuilder builder = image<std::uint8_t>(kTiles);
  builder.next_ifd();
  ImageSpec overview = kTiles;
  overview.width = 50;
  overview.height = 35;
  overview.subfile_type = 1;
  add_image<std::uint8_t>(builder, overview);
  Opened const opened(builder);
  ReadPlan const p = plan(*opened, {.level = 1});
  EXPECT_EQ(p.window(), (Window{0, 0, 50, 35}));
  EXPECT_EQ(p.tile_count(), 4u);
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(plan(*opened, {.window = Window{0, 0, 51, 1}, .level = 1}));
            }).kind(),
            ErrorKind::usage);
}

TEST(Plan, OfMoreBytesThanCanBeCountedSaysTheMost) {
  testing::TiffBuilder builder;
  std::uint32_t const side = 1'000'000'000, tile = 1'000'000;  // all sparse
  builder.longs(256, {side}).longs(257, {side}).shorts(258, {8}).longs(322, {tile}).longs(323, {tile});
  builder.longs(324, {0}).longs(325, {0});
  Opened const opened(builder);
  EXPECT_EQ(plan(*opened).result_bytes(), std::uint64_t{side} * side);
  EXPECT_EQ(plan(*opened, {.bands = {1, 1, 1, 1}, .dtype = DType::f64}).result_bytes(),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Plan, NamesLibraryAndPredictor) {
  ImageSpec spec{.width = 8, .height = 8};
  spec.compression = 8;
  testing::TiffBuilder deflate = image<std::uint8_t>(spec);
  deflate.shorts(317, {2});
  Opened const opened(deflate);
  EXPECT_EQ(plan(*opened).codec(), "deflate (libdeflate)");
  EXPECT_EQ(plan(*opened).predictor(), 2u);
  testing::TiffBuilder raw = image<std::uint8_t>({.width = 8, .height = 8});
  raw.shorts(317, {2});
  Opened const uncompressed(raw);
  EXPECT_EQ(plan(*uncompressed).codec(), "none");
  EXPECT_EQ(plan(*uncompressed).predictor(), 1u) << "TIFF defines none for data that are not compressed";
}

TEST(PlannedTile, OfAnotherSizeGoesToItsPlaceInTheResultOrIsSkipped) {
  Opened const opened(image<std::uint8_t>({.width = 64, .height = 64, .tile_width = 16, .tile_height = 16}));
  ReadPlan const small = plan(*opened, {.target_size = TargetSize{2, 2}});
  std::size_t used = 0;
  for (std::uint64_t i = 0; i < small.tile_count(); ++i) {
    PlannedTile const tile = small.tile(i);
    if (tile.in_tile.width == 0) { continue; }
    ++used;
    EXPECT_LT(tile.column, 2u);
    EXPECT_LT(tile.row, 2u);
    EXPECT_EQ(tile.column, tile.id.column / 2);
  }
  EXPECT_EQ(used, 4u);
  ReadReport report;
  static_cast<void>(read(*opened, {.target_size = TargetSize{2, 2}}, &report));
  EXPECT_EQ(report.tiles, used);
}

}  // namespace
}  // namespace terrazzo::reading
