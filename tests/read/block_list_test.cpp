// SPDX-License-Identifier: Apache-2.0
#include "read/block_list.hpp"

#include "read/images.hpp"
#include "read/small_tiles.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::tiles;

ReadJob job_of(Opened const& opened, ReadRequest const& request) { return {make_plan(opened->shared_impl(), request)}; }

TEST(ListBlocks, NamesEachBlockOnceWithTheJobsThatWantIt) {
  Opened const first(image<std::uint8_t>(tiles())), second(image<std::uint8_t>(tiles()));
  ReadJob const jobs[] = {job_of(second, {.window = Window{0, 0, 20, 16}}),
                          job_of(first, {.window = Window{16, 16, 32, 8}}),
                          job_of(first, {.window = Window{20, 20, 4, 4}})};
  BlockList const list = list_blocks(jobs);
  ASSERT_EQ(list.blocks.size(), 4u);
  EXPECT_EQ(list.uses.size(), 5u);
  Level const* const of_first = jobs[1].plan->level.get();
  EXPECT_EQ(list.blocks[0].level, of_first) << "the level that was opened first";
  EXPECT_EQ(list.blocks[0].block, 5u);
  ASSERT_EQ(list.blocks[0].use_count, 2u);
  EXPECT_EQ(list.uses[0].job, 1u);
  EXPECT_EQ(list.uses[1].job, 2u);
  EXPECT_EQ(list.blocks[1].block, 6u);
  EXPECT_EQ(list.uses[list.blocks[1].first_use].index, 1u);
  EXPECT_EQ(list.blocks[2].level, jobs[0].plan->level.get());
  EXPECT_EQ(list.blocks[3].block, 1u);
}

TEST(ListBlocks, LeavesOutWhatATargetSizeSkips) {
  Opened const opened(image<std::uint8_t>(tiles()));
  ReadJob const job = job_of(opened, {.target_size = TargetSize{1, 1}});
  EXPECT_EQ(list_blocks({&job, 1}).blocks.size(), 1u);
  EXPECT_EQ(count_uses({&job, 1}), 1u);
}

TEST(ListBlocks, KeepsToTheBudgetAndCanBeCancelled) {
  Opened const opened(image<std::uint8_t>(tiles()));
  ReadJob const job = job_of(opened, {});
  MemoryBudget enough(4096), little(16 * sizeof(ListedBlock));
  {
    BlockList const list = list_blocks({&job, 1}, {.budget = &enough});
    EXPECT_GE(enough.used_bytes(), 16 * (sizeof(ListedBlock) + sizeof(BlockUse)));
  }
  EXPECT_EQ(enough.used_bytes(), 0u);
  EXPECT_EQ(failure_of([&] { return list_blocks({&job, 1}, {.budget = &little}); }).kind(), ErrorKind::limit);
  std::atomic<bool> const cancel{true};
  EXPECT_EQ(failure_of([&] { return list_blocks({&job, 1}, {.cancel = &cancel}); }).kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::reading
