// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a raster that come compressed and in any order: they wait until all blocks of their rows are there.
#pragma once

#include "base/memory_budget.hpp"
#include "terrazzo/error.hpp"
#include "write/plan/file_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace terrazzo::writing {

class WaitingBlocks {
 public:
  // Plan and budget outlive this object.
  WaitingBlocks(FilePlan const& plan, MemoryBudget& budget) : plan_(plan), budget_(budget) {}

  // Keeps a copy. Each block comes once. Throws `limit` if the waiting blocks exceed the budget.
  void add(TileId id, std::span<std::byte const> bytes);

  // The budget of the work on these blocks.
  [[nodiscard]] MemoryBudget& budget() const noexcept { return budget_; }

  // All blocks of the block rows before this one have come.
  [[nodiscard]] std::uint32_t complete_until() const noexcept { return complete_until_; }

  // Of a complete block row that was not dropped.
  [[nodiscard]] std::span<std::byte const> bytes_of(TileId id) const;

  void drop_before(std::uint32_t block_row) { rows_.erase(rows_.begin(), rows_.lower_bound(block_row)); }

 private:
  struct BlockRow {
    std::uint64_t missing = 0;
    std::vector<std::vector<std::byte>> blocks{};  // plane by plane
    std::vector<MemoryBudget::Reservation> memory{};
  };
  [[nodiscard]] std::size_t index_of(TileId id) const noexcept;
  [[nodiscard]] BlockRow& row_of(std::uint32_t block_row);

  FilePlan const& plan_;
  MemoryBudget& budget_;
  std::map<std::uint32_t, BlockRow> rows_;
  std::uint32_t complete_until_ = 0;
};

}  // namespace terrazzo::writing
