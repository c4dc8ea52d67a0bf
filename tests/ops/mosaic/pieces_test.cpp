// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/pieces.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace terrazzo::ops {
namespace {

using Listed = std::vector<std::tuple<std::uint32_t, Window, bool>>;

Listed listed(std::vector<Piece> const& pieces) {
  Listed all;
  for (Piece const& piece : pieces) { all.emplace_back(piece.input, piece.target, piece.alone); }
  return all;
}

TEST(PieceSweep, CutsInputsToTheBandInTheirOrder) {
  std::vector<Window> const targets{{0, 6, 4, 10}, {}, {4, 0, 4, 7}};
  PieceSweep sweep(targets);
  EXPECT_EQ(listed(sweep.next(0, 5)), (Listed{{2, {4, 0, 4, 5}, true}}));
  EXPECT_EQ(listed(sweep.next(5, 5)), (Listed{{0, {0, 6, 4, 4}, true}, {2, {4, 5, 4, 2}, true}}));
  EXPECT_EQ(listed(sweep.next(10, 10)), (Listed{{0, {0, 10, 4, 6}, true}}));
  EXPECT_EQ(listed(sweep.next(20, 10)), Listed{});
}

TEST(PieceSweep, SkipsInputsAboveTheFirstBand) {
  std::vector<Window> const targets{{0, 0, 4, 4}, {0, 4, 4, 4}};
  PieceSweep sweep(targets);
  EXPECT_EQ(listed(sweep.next(4, 4)), (Listed{{1, {0, 4, 4, 4}, true}}));
}

TEST(PieceSweep, KnowsThePiecesThatNoOtherOneTouches) {
  std::vector<Window> const targets{{0, 0, 10, 4}, {9, 0, 4, 4}, {13, 0, 4, 4}, {0, 4, 10, 4}, {2, 5, 2, 1}};
  PieceSweep sweep(targets);
  std::vector<bool> alone;
  for (Piece const& piece : sweep.next(0, 8)) { alone.push_back(piece.alone); }
  EXPECT_EQ(alone, (std::vector<bool>{false, false, true, false, false}));
}

TEST(PieceSweep, JudgesOverlapsInsideTheBandOnly) {
  std::vector<Window> const targets{{0, 0, 4, 8}, {2, 6, 4, 8}};
  PieceSweep sweep(targets);
  EXPECT_TRUE(sweep.next(0, 6).front().alone);
  EXPECT_FALSE(sweep.next(6, 6).front().alone);
}

}  // namespace
}  // namespace terrazzo::ops
