// SPDX-License-Identifier: Apache-2.0
#include "write/host/waiting_blocks.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::kind_of_failure;

// 3 x 3 tiles in two planes.
FilePlan nine_tiles() {
  WriteOptions options;
  options.bands = 2;
  options.planar = PlanarLayout::separate;
  options.tile_size = {16, 16};
  return plan_file(48, 48, options);
}

std::vector<std::byte> bytes_for(TileId id) {
  return {std::byte(id.column), std::byte(id.row), std::byte(id.plane), std::byte{7}};
}

TEST(WaitingBlocks, KnowsTheRowsThatAreComplete) {
  FilePlan const plan = nine_tiles();
  MemoryBudget budget(1 << 20);
  WaitingBlocks blocks(plan, budget);
  auto const add_row = [&](std::uint32_t row) {
    for (std::uint32_t plane = 0; plane < 2; ++plane) {
      for (std::uint32_t column = 0; column < 3; ++column) {
        blocks.add({column, row, plane}, bytes_for({column, row, plane}));
      }
    }
  };
  add_row(1);
  EXPECT_EQ(blocks.complete_until(), 0U);
  add_row(0);
  EXPECT_EQ(blocks.complete_until(), 2U);
  for (std::uint32_t const row : {0U, 1U}) {
    for (std::uint32_t plane = 0; plane < 2; ++plane) {
      auto const kept = blocks.bytes_of({2, row, plane});
      EXPECT_TRUE(std::ranges::equal(kept, bytes_for({2, row, plane})));
    }
  }
  blocks.drop_before(2);
  EXPECT_EQ(budget.used_bytes(), 0U);
  add_row(2);
  EXPECT_EQ(blocks.complete_until(), 3U);
  EXPECT_EQ(blocks.bytes_of({1, 2, 1}).size(), 4U);
}

TEST(WaitingBlocks, TakesEmptyBlocks) {
  FilePlan const plan = nine_tiles();
  MemoryBudget budget(1 << 20);
  WaitingBlocks blocks(plan, budget);
  for (std::uint32_t i = 0; i < 6; ++i) { blocks.add({i % 3, 0, i / 3}, {}); }
  EXPECT_EQ(blocks.complete_until(), 1U);
  EXPECT_TRUE(blocks.bytes_of({0, 0, 0}).empty());
}

TEST(WaitingBlocks, CountInTheLimit) {
  FilePlan const plan = nine_tiles();
  MemoryBudget budget(1000);
  WaitingBlocks blocks(plan, budget);
  std::vector<std::byte> const large(400);
  blocks.add({0, 2, 0}, large);
  EXPECT_EQ(kind_of_failure([&] { blocks.add({1, 2, 0}, large); }), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::writing
