// SPDX-License-Identifier: Apache-2.0
#include "read/row_pieces.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::reading {
namespace {

std::vector<std::uint32_t> heights(RowPieces const& pieces) {
  std::vector<std::uint32_t> rows;
  for (std::uint64_t i = 0; i < pieces.count(); ++i) { rows.push_back(pieces.window(i).height); }
  return rows;
}

TEST(RowPieces, AreWholeRowsOfBlocks) {
  RowPieces const pieces({3, 5, 20, 60}, 16, 40);
  EXPECT_EQ(heights(pieces), (std::vector<std::uint32_t>{27, 32, 1})) << "to 32, to 64, to 65";
  EXPECT_EQ(pieces.window(1), (Window{3, 32, 20, 32}));
  EXPECT_EQ(pieces.max_rows(), 32u);
}

TEST(RowPieces, ThatAreSmallerThanABlockDivideIt) {
  EXPECT_EQ(heights(RowPieces({0, 10, 8, 12}, 16, 5)), (std::vector<std::uint32_t>{5, 5, 2}));
  EXPECT_EQ(heights(RowPieces({0, 2, 8, 8}, 16, 5)), (std::vector<std::uint32_t>{3, 5}));
}

TEST(RowPieces, HaveAllRowsOnceWhateverTheNumbers) {
  for (std::uint32_t const row : {0u, 1u, 15u, 16u, 40u}) {
    for (std::uint32_t const block : {1u, 7u, 16u}) {
      for (std::uint32_t const rows : {1u, 5u, 16u, 33u, 1000u}) {
        RowPieces const pieces({0, row, 4, 50}, block, rows);
        std::uint32_t next = row;
        for (std::uint64_t i = 0; i < pieces.count(); ++i) {
          EXPECT_EQ(pieces.window(i).row, next);
          EXPECT_GT(pieces.window(i).height, 0u);
          EXPECT_LE(pieces.window(i).height, pieces.max_rows());
          next += pieces.window(i).height;
        }
        EXPECT_EQ(next, row + 50) << row << " " << block << " " << rows;
      }
    }
  }
}

TEST(PieceProgress, RunsOnceOverTheWhole) {
  std::vector<std::uint64_t> told;
  PieceProgress const progress(
      [&](std::uint64_t done, std::uint64_t total) {
        EXPECT_EQ(total, 30u);
        told.push_back(done);
        return true;
      },
      30, 60);
  progress.of_rows(0, 20)(3, 7);
  progress.of_rows(0, 20)(7, 7);
  progress.of_rows(20, 60)(0, 0);
  progress.tell_done(60);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{4, 10, 10, 30}));
}

TEST(PieceProgress, IsNothingWithoutAFunctionAndCancelsWithOneThatSaysNo) {
  PieceProgress const silent({}, 30, 60);
  EXPECT_FALSE(silent.of_rows(0, 20));
  EXPECT_NO_THROW(silent.tell_done(60));
  PieceProgress const no([](std::uint64_t, std::uint64_t) { return false; }, 30, 60);
  EXPECT_EQ(testing::kind_of_failure([&] {
              no.tell_done(20);
              return 0;
            }),
            ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::reading
