// SPDX-License-Identifier: Apache-2.0
//
// The blocks that a list of jobs needs: each block once, with all its uses. Both engines read from this list.
#pragma once

#include "base/memory_budget.hpp"
#include "read/read_job.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// The part of a block that one job needs.
struct BlockUse {
  std::uint32_t job = 0;
  std::uint64_t index = 0;  // index of the block in the job's plan
};

struct ListedBlock {
  Level const* level = nullptr;
  std::uint64_t block = 0;                   // index of the block in the level's tile index
  std::size_t first_use = 0, use_count = 0;  // range in BlockList::uses
};

struct BlockList {
  std::vector<ListedBlock> blocks;  // sorted by level, then by number; the blocks of one job in the order of its plan
  std::vector<BlockUse> uses;  // the uses of each block in the order of the jobs
  MemoryBudget::Reservation reserved{};
};

struct ListLimits {
  MemoryBudget* budget = nullptr;  // null: no limit
  std::atomic<bool> const* cancel = nullptr;  // ReadRequest::cancel
};

// Number of blocks between two checks of ListLimits::cancel.
inline constexpr std::uint64_t kBlocksBetweenChecks = 4096;

// Throws `cancelled`, with the name of the level's file, if `limits.cancel` is set.
void check_cancel(ListLimits const& limits, Level const& level);

// The number of entries that `uses` will have. Throws `limit` if an engine cannot count the windows and bands.
[[nodiscard]] std::uint64_t count_uses(std::span<ReadJob const> jobs);

// A file of a few bytes may declare a million blocks, and a file of a gigabyte a thousand times as many. Throws `limit`
// before the lists exceed the budget, and `cancelled` if the read is cancelled while the lists are made.
[[nodiscard]] BlockList list_blocks(std::span<ReadJob const> jobs, ListLimits const& limits = {});

}  // namespace terrazzo::reading
