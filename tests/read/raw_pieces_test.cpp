// SPDX-License-Identifier: Apache-2.0
#include "read/raw_pieces.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <memory>
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

}  // namespace
}  // namespace terrazzo::reading
