// SPDX-License-Identifier: Apache-2.0
#include "read/block_list.hpp"

#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace terrazzo::reading {

namespace {

struct Wanted {
  Level const* level;
  std::uint64_t block;
  BlockUse use;
};

// The number of the plan's blocks that contribute pixels to the result: resampling skips some blocks.
std::uint64_t wanted_blocks(ReadPlan::Impl const& plan) noexcept {
  if (!plan.resampled()) { return plan.block_count(); }
  // The maps are ascending: pixels of one block are neighbours in a map.
  auto const blocks_of = [](std::vector<std::uint32_t> const& map, std::uint32_t origin, std::uint32_t block_px) {
    std::uint64_t blocks = 0, last = 0;
    for (std::uint32_t const pixel : map) {
      std::uint64_t const block = (std::uint64_t{origin} + pixel) / block_px + 1;
      blocks += block != last ? 1 : 0;
      last = block;
    }
    return blocks;
  };
  return blocks_of(plan.source_columns, plan.window.column, plan.level->image.block_width_px) *
         blocks_of(plan.source_rows, plan.window.row, plan.level->image.block_height_px) * plan.planes.size();
}

}  // namespace

void check_cancel(ListLimits const& limits, Level const& level) {
  if (limits.cancel != nullptr && limits.cancel->load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::cancelled, "the read was cancelled", {.source = level.source->name()});
  }
}

std::uint64_t count_uses(std::span<ReadJob const> jobs) {
  std::uint64_t count = 0;
  for (ReadJob const& job : jobs) {
    auto const sum = checked_add(count, wanted_blocks(*job.plan));
    // tile::Placement stores an index into the list of bands in 32 bits.
    auto const bands = checked_product(jobs.size(), job.plan->bands.size());
    if (!sum || !bands || *bands > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorKind::limit, text(jobs.size(), " windows of ", job.plan->bands.size(), " bands in one call"));
    }
    count = *sum;
  }
  return count;
}

BlockList list_blocks(std::span<ReadJob const> jobs, ListLimits const& limits) {
  BlockList list;
  std::uint64_t const count = count_uses(jobs);
  if (limits.budget != nullptr) {
    constexpr std::uint64_t kBytesOfUse = sizeof(Wanted) + sizeof(BlockUse) + sizeof(ListedBlock);
    list.reserved = limits.budget->reserve(saturating_product(count, kBytesOfUse), "the list of tiles");
  }
  std::vector<Wanted> wanted;
  wanted.reserve(static_cast<std::size_t>(count));
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    ReadPlan::Impl const& plan = *jobs[j].plan;
    for (std::uint64_t i = 0; i < plan.block_count(); ++i) {
      if (i % kBlocksBetweenChecks == 0) { check_cancel(limits, *plan.level); }
      TileId const id = plan.block_id(i);
      if (plan.target_of(plan.covered(id)).empty()) { continue; }
      wanted.push_back({plan.level.get(), plan.block_number(id), {j, i}});
    }
  }
  // The blocks of a single plan are already sorted.
  if (jobs.size() > 1) {
    std::ranges::stable_sort(wanted, [](Wanted const& a, Wanted const& b) {
      return std::tie(a.level->id, a.block) < std::tie(b.level->id, b.block);
    });
  }
  list.uses.reserve(wanted.size());
  for (Wanted const& next : wanted) {
    bool const is_known =
        !list.blocks.empty() && list.blocks.back().level == next.level && list.blocks.back().block == next.block;
    if (!is_known) { list.blocks.push_back({next.level, next.block, list.uses.size(), 0}); }
    list.uses.push_back(next.use);
    ++list.blocks.back().use_count;
  }
  return list;
}

}  // namespace terrazzo::reading
