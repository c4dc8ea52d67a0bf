// SPDX-License-Identifier: Apache-2.0
//
// Every row that a kept block has in the result is in one piece; every other block is missing.
#include "read/host/cache_hits.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace terrazzo::reading {
namespace {

// Four tiles of 256 KiB a band.
ImageSpec const kTiles{.width = 1000, .height = 1000, .tile_width = 512, .tile_height = 512, .compression = kPackBits};

struct Planned {
  Planned(ImageSpec const& spec, ReadRequest const& request, std::initializer_list<std::uint64_t> kept)
      : opened(image<std::uint8_t>(spec)), plan(make_plan(opened->shared_impl(), request)) {
    for (std::uint64_t const number : kept) {
      tile_cache().insert({plan->level->id, number}, std::make_shared<CachedBlock>(512 * 512), 1 << 24);
    }
  }

  Opened opened;
  std::shared_ptr<ReadPlan::Impl const> plan;
};

void expect_all_rows_once(ReadPlan::Impl const& plan, CacheHits const& blocks) {
  std::uint64_t next_row = 0, whole = 0;
  for (std::size_t i = 0; i < blocks.pieces().size(); ++i) {
    CachedPiece const& piece = blocks.pieces()[i];
    ASSERT_NE(piece.pixels, nullptr);
    ASSERT_GT(piece.rows, 0u);
    EXPECT_EQ(piece.first_row, next_row) << i;
    next_row += piece.rows;
    bool const is_last = next_row == plan.target_of(plan.covered(plan.block_id(piece.block))).rows;
    EXPECT_EQ(piece.is_last, is_last) << i;
    EXPECT_EQ(blocks.blocks_in(i), whole);
    if (is_last) {
      next_row = 0;
      ++whole;
    }
  }
  EXPECT_EQ(next_row, 0u);
  EXPECT_EQ(blocks.blocks_in(blocks.pieces().size()), whole);
  EXPECT_EQ(whole + blocks.missing().size(), plan.block_count());
}

TEST(CacheHits, AreCutIntoPieces) {
  Planned const planned(kTiles, {.window = Window{12, 0, 900, 1000}}, {1, 2});
  CacheHits const blocks(*planned.plan);
  EXPECT_EQ((std::vector<std::uint64_t>(blocks.missing().begin(), blocks.missing().end())),
            (std::vector<std::uint64_t>{0, 3}));
  expect_all_rows_once(*planned.plan, blocks);
  // 400 columns in 327 rows each, 500 columns in 262.
  ASSERT_EQ(blocks.pieces().size(), 4u);
  EXPECT_EQ(blocks.pieces()[0].block, 1u);
  EXPECT_EQ(blocks.pieces()[0].rows, 327u);
  EXPECT_EQ(blocks.pieces()[2].block, 2u);
  EXPECT_EQ(blocks.pieces()[2].rows, 262u);
  EXPECT_EQ(blocks.threads(), 2u) << "for 448,800 bytes";
}

TEST(CacheHits, CountTheBytesOfAllBandsThatLieTogether) {
  ImageSpec spec = kTiles;
  spec.bands = 3;
  ReadRequest const request{.window = Window{0, 0, 400, 100}, .bands = {3, 1}, .dtype = DType::f32};
  Planned const together(spec, request, {0});
  CacheHits const pixels(*together.plan);
  expect_all_rows_once(*together.plan, pixels);
  EXPECT_EQ(pixels.pieces()[0].rows, 40u) << "of 400 pixels of two floats";
  EXPECT_EQ(pixels.threads(), 2u);
  spec.separate = true;
  Planned const apart(spec, request, {0, 8});
  CacheHits const planes(*apart.plan);
  expect_all_rows_once(*apart.plan, planes);
  EXPECT_TRUE(planes.missing().empty()) << "of bands 1 and 3";
  EXPECT_EQ(planes.pieces()[0].rows, 81u);
}

TEST(CacheHits, OfAResultOfAnotherSizeHaveItsRows) {
  for (TargetSize const size : {TargetSize{3000, 2500}, TargetSize{7, 3}}) {
    Planned const planned(kTiles, {.target_size = size}, {0, 1, 2, 3});
    CacheHits const blocks(*planned.plan);
    expect_all_rows_once(*planned.plan, blocks);
    EXPECT_TRUE(blocks.missing().empty());
  }
}

TEST(CacheHits, AreNotAskedForWhereResamplingSkipsThem) {
  ImageSpec const spec{.width = 80, .height = 16, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  Planned const planned(spec, {.target_size = TargetSize{2, 1}}, {0, 1, 2, 3, 4});  // of columns 20 and 60
  CacheHits const blocks(*planned.plan);
  ASSERT_EQ(planned.plan->block_count(), 3u);
  EXPECT_TRUE(blocks.missing().empty()) << "nobody wants the one between";
  EXPECT_EQ(blocks.pieces().size(), 2u);
}

TEST(CacheHits, AreNoneOfAnotherLevel) {
  Planned const other(kTiles, {}, {0, 1, 2, 3}), planned(kTiles, {}, {});
  CacheHits const blocks(*planned.plan);
  EXPECT_TRUE(blocks.pieces().empty());
  EXPECT_EQ(blocks.missing().size(), 4u);
  EXPECT_EQ(blocks.threads(), 0u);
}

}  // namespace
}  // namespace terrazzo::reading
