// SPDX-License-Identifier: Apache-2.0
#include "read/host/raw_pieces.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <vector>

namespace terrazzo::reading {
namespace {

// A plan of a read of float32 tiles, none of which is in the file: pixels have no part in this.
struct Planned {
  Planned(std::uint32_t side, std::uint32_t tile, ReadRequest const& request, std::uint16_t planes = 1)
      : opened(sparse(side, tile, planes)), plan(make_plan(opened->shared_impl(), request)), pieces(*plan) {}

  static testing::TiffBuilder sparse(std::uint32_t side, std::uint32_t tile, std::uint16_t planes) {
    std::uint32_t const across = ceil_div(side, tile);
    std::vector<std::uint32_t> const nothing(std::size_t{across} * across * planes, 0);
    testing::TiffBuilder builder;
    builder.longs(256, {side}).longs(257, {side}).shorts(258, std::vector<std::uint16_t>(planes, 32));
    builder.shorts(259, {kNone}).shorts(277, {planes}).shorts(284, {2});
    builder.shorts(339, std::vector<std::uint16_t>(planes, 3));
    builder.longs(322, {tile}).longs(323, {tile}).longs(324, nothing).longs(325, nothing);
    return builder;
  }

  Opened opened;
  std::shared_ptr<ReadPlan::Impl const> plan;
  RawPieces pieces;
};

TEST(RawPieces, JoinShortRowsOfALargeResult) {
  Planned const planned(4096, 256, {.threads = 2});
  RawPiece const first = planned.pieces[0];
  EXPECT_EQ(first.blocks, 8u) << "8 KiB together";
  EXPECT_EQ(first.rows, 128u) << "1 MiB together";
  EXPECT_EQ(planned.pieces.count(), 64u);
  RawPiece const below = planned.pieces[1];
  EXPECT_EQ(below.first_block, first.first_block);
  EXPECT_EQ(below.first_row, 128u);
  EXPECT_EQ(planned.pieces[2].first_block, 8u);
}

TEST(RawPieces, LeaveBlocksApartWhereJoiningGainsNothing) {
  EXPECT_EQ(Planned(2048, 256, {.threads = 1}).pieces[0].blocks, 1u) << "a result that the caches hold";
  EXPECT_EQ(Planned(8192, 2048, {.threads = 1}).pieces[0].blocks, 1u) << "long rows";
  EXPECT_EQ(Planned(4096, 256, {.threads = 16}).pieces[0].blocks, 1u) << "too few pieces for so many threads";
  EXPECT_EQ(Planned(8192, 256, {.target_size = TargetSize{4000, 4000}, .threads = 1}).pieces[0].blocks, 1u)
      << "resampling may not want all of them";
}

TEST(RawPieces, OfASmallResultAreEnoughForItsThreads) {
  Planned const window(4096, 512, {.window = Window{100, 100, 512, 512}, .threads = 16});
  EXPECT_EQ(window.plan->threads, 8u);
  EXPECT_EQ(window.pieces[0].rows, 64u) << "128 KiB";
  Planned const by_one(4096, 512, {.window = Window{100, 100, 512, 512}, .threads = 1});
  EXPECT_EQ(by_one.pieces[0].rows, 128u) << "a quarter of what the window takes";
  EXPECT_EQ(Planned(2048, 2048, {.threads = 2}).pieces[0].rows, 128u) << "1 MiB at most";
}

TEST(RawPieces, HaveEveryRowOfEveryBlockOnceAndInOrder) {
  struct Case {
    std::uint32_t side, tile;
    ReadRequest request;
    std::uint16_t planes;
  };
  Case const cases[] = {{4096, 256, {.threads = 2}, 1},
                        {3000, 208, {.threads = 1}, 1},
                        {3100, 80, {.window = Window{85, 1, 3000, 3000}, .threads = 2}, 1},
                        {2050, 64, {.threads = 2}, 3},
                        {4096, 4096, {.threads = 3}, 1},
                        {1000, 16, {}, 2}};
  for (auto const& [side, tile, request, planes] : cases) {
    Planned const planned(side, tile, request, planes);
    std::vector<std::uint32_t> rows_of(planned.plan->block_count(), 0);
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < planned.pieces.count(); ++i) {
      RawPiece const piece = planned.pieces[i];
      ASSERT_GE(piece.first_block, last);
      last = piece.first_block;
      ASSERT_EQ(planned.pieces.blocks_in(i), piece.first_block);
      ASSERT_LE(std::uint64_t{piece.rows} * piece.blocks * tile * 4, std::max<std::uint64_t>(kRawPieceBytes, tile * 4));
      for (std::uint64_t b = piece.first_block; b < piece.first_block + piece.blocks; ++b) {
        ASSERT_EQ(planned.plan->block_id(b).row, planned.plan->block_id(piece.first_block).row) << "side by side";
        ASSERT_EQ(rows_of[b], piece.first_row);
        rows_of[b] += piece.rows;
      }
    }
    EXPECT_EQ(rows_of, std::vector<std::uint32_t>(rows_of.size(), tile)) << side << " " << tile;
    EXPECT_EQ(planned.pieces.blocks_in(planned.pieces.count()), planned.plan->block_count());
  }
}

// Every row and column that is wanted is in a piece, and no piece is there for nothing.
TEST(RawPieces, OfAResultOfAnotherSizeAreThoseItTakesPixelsOf) {
  struct Case {
    std::uint32_t side, tile;
    ReadRequest request;
    std::uint16_t planes;
  };
  Case const cases[] = {{3000, 208, {.target_size = TargetSize{7, 5}, .threads = 1}, 1},
                        {3000, 208, {.target_size = TargetSize{100, 3001}, .threads = 2}, 2},
                        {2050, 2050, {.window = Window{33, 1000, 1500, 1000}, .target_size = TargetSize{3, 40}}, 3},
                        {1000, 16, {.target_size = TargetSize{1, 1}}, 2},
                        {500, 64, {.target_size = TargetSize{900, 1200}}, 1}};
  for (auto const& [side, tile, request, planes] : cases) {
    Planned const planned(side, tile, request, planes);
    ReadPlan::Impl const& plan = *planned.plan;
    std::set<std::array<std::uint32_t, 4>> wanted, found;  // plane, block's row and column, first row of the piece
    std::uint32_t const rows_of_piece = planned.pieces[0].rows;
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      for (std::uint32_t const row : plan.source_rows) {
        std::uint32_t const y = plan.window.row + row;
        for (std::uint32_t const column : plan.source_columns) {
          wanted.insert({plane, y / tile, (plan.window.column + column) / tile, y % tile / rows_of_piece});
        }
      }
    }
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < planned.pieces.count(); ++i) {
      RawPiece const piece = planned.pieces[i];
      ASSERT_GE(piece.first_block, last);
      ASSERT_EQ(piece.blocks, 1u);
      ASSERT_EQ(planned.pieces.blocks_in(i), piece.first_block);
      last = piece.first_block;
      TileId const id = plan.block_id(piece.first_block);
      EXPECT_TRUE(found.insert({id.plane, id.row, id.column, piece.first_row / rows_of_piece}).second) << "twice";
    }
    EXPECT_EQ(found, wanted) << side << " " << tile;
    EXPECT_EQ(planned.pieces.blocks_in(planned.pieces.count()), plan.block_count());
  }
}

// 2^39 pieces of 1 MiB, of which six are wanted.
TEST(RawPieces, OfAHugeRasterAreAsFewAsTheResultNeeds) {
  testing::TiffBuilder builder;
  builder.longs(256, {1u << 30}).longs(257, {1u << 29}).shorts(258, {8}).shorts(259, {kNone});
  builder.longs(322, {1u << 20}).longs(323, {1u << 19}).longs(324, {0}).longs(325, {0});
  Opened const opened(builder);
  auto const plan = make_plan(opened->shared_impl(), {.target_size = TargetSize{3, 2}});
  EXPECT_EQ(RawPieces(*plan).count(), 6u);
  ReadReport report;
  EXPECT_EQ(read(*opened, {.target_size = TargetSize{3, 2}}, &report).bytes().size(), 6u);
  EXPECT_EQ(report.sparse_tiles, 6u);
}

}  // namespace
}  // namespace terrazzo::reading
