// SPDX-License-Identifier: Apache-2.0
#include "write/device/memory_split.hpp"

#include "write/overviews/cascade.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

FilePlan plan_of(std::uint32_t width, std::uint32_t height, bool cog) {
  WriteOptions options;
  options.dtype = DType::f32;
  options.cog = cog;
  return plan_file(width, height, options);
}

// Ten times the block, and something that every batch needs.
BatchCost cost_of(FilePlan const& plan) {
  std::uint64_t const block = plan.block_bytes(plan.shape_of(plan.levels.front(), 0));
  return {[block](std::uint32_t blocks, std::size_t slots) { return (8 + slots) * block * blocks + 5 * kMiB; },
          256 * kMiB};
}

TEST(MemorySplit, StaysWithinTheBudget) {
  for (bool const cog : {false, true}) {
    for (bool const in_reach : {false, true}) {
      FilePlan const plan = plan_of(16384, 16384, cog);
      for (std::uint64_t const budget : {300 * kMiB, 1024 * kMiB, 4096 * kMiB, 32768 * kMiB}) {
        MemorySplit const share = split_device_memory(plan, budget, cost_of(plan), in_reach);
        EXPECT_LE(share.bytes, budget) << cog << in_reach;
        EXPECT_GE(share.rows.at_once, share.rows.gathered);
        EXPECT_EQ(share.rows.gathered % 512, 0U);
        EXPECT_EQ(share.rows.at_once % 512, 0U);
        EXPECT_LE(share.batch_blocks, 256U) << "no more than is useful";
      }
    }
  }
}

TEST(MemorySplit, GivesMoreOfALargerBudget) {
  FilePlan const plan = plan_of(16384, 16384, true);
  MemorySplit before = split_device_memory(plan, 200 * kMiB, cost_of(plan), true);
  for (std::uint64_t budget = 400 * kMiB; budget <= 6400 * kMiB; budget *= 2) {
    MemorySplit const share = split_device_memory(plan, budget, cost_of(plan), true);
    EXPECT_GE(share.batch_blocks, before.batch_blocks);
    EXPECT_GE(share.rows.at_once, before.rows.at_once);
    before = share;
  }
  EXPECT_EQ(before.batch_blocks, 256U);
  EXPECT_EQ(before.rows.at_once, 16384U) << "all of it, when the caller has it";
}

TEST(MemorySplit, HoldsAllBatchesOfACogThatTheCallerHasWhole) {
  FilePlan const plan = plan_of(16384, 16384, true);
  EXPECT_EQ(block_count(plan), 1365U);
  EXPECT_EQ(split_device_memory(plan, 8192 * kMiB, cost_of(plan), true).slots, 6U);
  EXPECT_EQ(split_device_memory(plan, 8192 * kMiB, cost_of(plan), false).slots, 2U) << "rows that come in parts";
  EXPECT_EQ(split_device_memory(plan, 1024 * kMiB, cost_of(plan), true).slots, 2U) << "they do not fit";
  FilePlan const plain = plan_of(16384, 16384, false);
  EXPECT_EQ(split_device_memory(plain, 8192 * kMiB, cost_of(plain), true).slots, 2U) << "nothing waits there";
}

TEST(MemorySplit, HasAFloorOfOneBlockRowAndOneBlock) {
  FilePlan const plan = plan_of(16384, 16384, true);
  MemorySplit const share = split_device_memory(plan, 1, cost_of(plan), false);
  EXPECT_EQ(share.rows.gathered, 512U);
  EXPECT_EQ(share.rows.room, 512U);
  EXPECT_EQ(share.batch_blocks, 1U);
  EXPECT_GT(share.bytes, 1U) << "and says what it takes";
}

TEST(MemorySplit, WantsNoMoreRowsOrBlocksThanThereAre) {
  FilePlan const plan = plan_of(600, 700, false);
  MemorySplit const share = split_device_memory(plan, 4096 * kMiB, cost_of(plan), false);
  EXPECT_EQ(share.rows.gathered, 700U);
  EXPECT_EQ(share.rows.at_once, 700U);
  EXPECT_EQ(share.batch_blocks, 4U);
}

TEST(MemorySplit, CountsTheWindowsThatTheCascadeTakes) {
  FilePlan const plan = plan_of(4096, 4096, true);
  std::uint64_t windows = 0;
  for (std::size_t level = 1; level < plan.levels.size(); ++level) {
    windows += std::uint64_t{plan.levels[level].width} * 4 * window_rows(plan, level, 1024);
  }
  EXPECT_GT(overview_bytes(plan, 1024), windows);
  EXPECT_LT(overview_bytes(plan, 1024), 2 * windows);
  EXPECT_EQ(overview_bytes(plan_of(4096, 4096, false), 1024), 0U);
  EXPECT_EQ(waiting_bytes(plan, 1024), std::uint64_t{4096} * 4 * 1024);
}

}  // namespace
}  // namespace terrazzo::writing
