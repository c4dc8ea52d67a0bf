// SPDX-License-Identifier: Apache-2.0
#include "write/device/memory_split.hpp"

#include "write/overviews/cascade.hpp"

#include <algorithm>

namespace terrazzo::writing {

namespace {

// Rows of the raster that overviews keep from one part to the next. The widest kernel (Lanczos) reads three result
// pixels to either side, so a row needs six times the ratio of rows; twice that while rows are moved.
std::uint64_t tail_rows(FilePlan const& plan) {
  std::uint64_t rows = 0;
  for (std::size_t level = 1; level < plan.levels.size(); ++level) {
    if (plan.source_of[level - 1] != 0) { continue; }
    std::uint64_t const height = plan.levels[level].height;
    std::uint64_t const ratio = (plan.levels.front().height + height - 1) / height;
    rows = std::max(rows, 6 * ratio + 2);
  }
  return 3 * std::min<std::uint64_t>(rows, plan.levels.front().height);
}

std::uint64_t row_bytes_of(FilePlan const& plan, std::size_t level) {
  std::uint64_t const samples = std::uint64_t{plan.options.bands} * plan.sample_bytes() + (plan.options.mask ? 1 : 0);
  return samples * plan.levels[level].width;
}

// The largest n in [1, most] for which fits(n); 1 if there is none. `fits` is monotonic: true, then false.
template <class Fits>
std::uint32_t most_that_fits(std::uint32_t most, Fits const& fits) {
  std::uint32_t low = 1, high = std::max(most, 1U);
  while (low < high) {
    std::uint32_t const middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

std::uint64_t block_count(FilePlan const& plan) noexcept {
  std::uint64_t blocks = 0;
  for (std::size_t level = plan.first_level; level < plan.levels.size(); ++level) {
    blocks += plan.levels[level].blocks_per_plane() * plan.planes;
  }
  return blocks;
}

std::uint64_t waiting_bytes(FilePlan const& plan, std::uint32_t rows) { return row_bytes_of(plan, 0) * rows; }

std::uint64_t overview_bytes(FilePlan const& plan, std::uint32_t rows) {
  if (plan.levels.size() == 1) { return 0; }
  std::uint64_t bytes = row_bytes_of(plan, 0) * tail_rows(plan);
  for (std::size_t level = 1; level < plan.levels.size(); ++level) {
    bytes += row_bytes_of(plan, level) * window_rows(plan, level, rows);
  }
  // When a window makes room, its remaining rows are moved through a second buffer: a block row, and the rows that a
  // kernel needs.
  constexpr std::uint64_t kMovedRows = 32;
  LevelPlan const& first = plan.levels[1];
  return bytes + row_bytes_of(plan, 1) * (first.block_height + kMovedRows);
}

MemorySplit split_device_memory(FilePlan const& plan, std::uint64_t budget_bytes, BatchCost const& batch,
                                bool in_reach) {
  LevelPlan const& raster = plan.levels.front();
  std::uint64_t const block_bytes = plan.block_bytes(plan.shape_of(raster, 0));
  auto const useful_blocks =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(batch.useful_bytes / std::max<std::uint64_t>(block_bytes, 1),
                                                           1, std::min<std::uint64_t>(plan.tile_count(), 1U << 20)));
  std::uint64_t const blocks_a_row = std::uint64_t{raster.blocks_across} * plan.planes;
  auto const rows_of = [&](std::uint32_t block_rows) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(raster.height, std::uint64_t{block_rows} * raster.block_height));
  };

  // Assign memory to rows first, up to a useful batch and half of the budget; then to the batch; then, if the rows are
  // in reach, to as many rows at once as their overviews fit.
  auto const enough_rows = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(raster.blocks_down, (useful_blocks + blocks_a_row - 1) / blocks_a_row));
  std::uint32_t const block_rows = most_that_fits(enough_rows, [&](std::uint32_t n) {
    return waiting_bytes(plan, rows_of(n)) + overview_bytes(plan, rows_of(n)) <= budget_bytes / 2;
  });
  MemorySplit share;
  share.rows.gathered = rows_of(block_rows);
  std::uint64_t const waiting = waiting_bytes(plan, share.rows.gathered);
  std::uint64_t const overviews = overview_bytes(plan, share.rows.gathered);
  share.batch_blocks = most_that_fits(useful_blocks, [&](std::uint32_t n) {
    return waiting + overviews + batch.device_bytes(n, share.slots) <= budget_bytes;
  });
  std::uint32_t const at_once = most_that_fits(raster.blocks_down, [&](std::uint32_t n) {
    return waiting + overview_bytes(plan, rows_of(n)) + batch.device_bytes(share.batch_blocks, share.slots) <=
           budget_bytes;
  });
  // Windows are allocated once, for the larger number: rows that arrive in parts use no larger parts later.
  share.rows.at_once = in_reach ? std::max(share.rows.gathered, rows_of(at_once)) : share.rows.gathered;
  share.rows.room = share.rows.at_once;
  std::uint64_t const rows_bytes = waiting + overview_bytes(plan, share.rows.room);
  if (plan.options.cog && in_reach && share.rows.at_once == raster.height) {
    std::uint64_t const all = block_count(plan);
    auto const needed = static_cast<std::size_t>((all + share.batch_blocks - 1) / share.batch_blocks);
    if (needed > share.slots && rows_bytes + batch.device_bytes(share.batch_blocks, needed) <= budget_bytes) {
      share.slots = needed;
    }
  }
  share.bytes = rows_bytes + batch.device_bytes(share.batch_blocks, share.slots);
  return share;
}

}  // namespace terrazzo::writing
