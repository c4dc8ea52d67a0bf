// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/column_cover.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace terrazzo::ops {
namespace {

TEST(ColumnCover, IsCompleteWhileRangesCoverAllColumns) {
  ColumnCover cover({0, 4, 10});
  EXPECT_FALSE(cover.is_complete());
  cover.add(0, 4);
  EXPECT_FALSE(cover.is_complete());
  cover.add(4, 10);
  EXPECT_TRUE(cover.is_complete());
  cover.add(0, 10);
  cover.take_away(0, 4);
  EXPECT_TRUE(cover.is_complete());
  cover.take_away(0, 10);
  EXPECT_FALSE(cover.is_complete());
}

TEST(ColumnCover, AgreesWithCountsOfEachColumn) {
  std::mt19937 random(1);
  for (std::uint64_t columns = 1; columns < 30; ++columns) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::vector<std::uint64_t> edges{0, columns};
    for (int i = 0; i < 12; ++i) {
      std::uint64_t const first = random() % columns;
      ranges.emplace_back(first, first + 1 + random() % (columns - first));
      edges.push_back(ranges.back().first);
      edges.push_back(ranges.back().second);
    }
    ColumnCover cover(edges);
    std::vector<int> counts(columns, 0);
    std::vector<bool> is_added(ranges.size(), false);
    for (int step = 0; step < 200; ++step) {
      std::size_t const chosen = random() % ranges.size();
      auto const [first, end] = ranges[chosen];
      if (is_added[chosen]) {
        cover.take_away(first, end);
      } else {
        cover.add(first, end);
      }
      for (std::uint64_t column = first; column < end; ++column) { counts[column] += is_added[chosen] ? -1 : 1; }
      is_added[chosen] = !is_added[chosen];
      bool expected = true;
      for (int const count : counts) { expected = expected && count > 0; }
      ASSERT_EQ(cover.is_complete(), expected) << columns << " columns, step " << step;
    }
  }
}

}  // namespace
}  // namespace terrazzo::ops
