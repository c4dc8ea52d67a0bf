// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/tile_verdicts.hpp"

#include "read/blocks/block_outcome.hpp"
#include "read/plan/value_transforms.hpp"
#include "tile/tile_status.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::reading {

TileVerdicts::TileVerdicts(std::span<ReadJob const> jobs, std::span<BlockUse const> uses, ReadRequest const& request)
    : jobs_(jobs), uses_(uses), request_(request) {
  std::uint64_t order = 0;
  for (ReadJob const& job : jobs) {
    orders_.push_back(order);
    order += job.plan->block_count();
  }
}

std::uint32_t TileVerdicts::end_row(BlockUse const& use) const {
  ReadPlan::Impl const& plan = *jobs_[use.job].plan;
  TileId const id = plan.block_id(use.index);
  ReadPlan::Impl::Target const target = plan.target_of(plan.covered(id));
  std::uint32_t const last = target.first_row + target.rows - 1;
  std::uint32_t const row = plan.window.row + (plan.resampled() ? plan.source_rows[last] : last);
  return row - id.row * plan.level->image.block_height_px + 1;
}

std::uint32_t TileVerdicts::wanted_rows(WorkTile const& tile, bool is_raw) const {
  std::span<BlockUse const> const uses = uses_of(tile);
  if (!is_raw) { return tile.level->image.block_rows(jobs_[uses.front().job].plan->block_id(uses.front().index).row); }
  std::uint32_t rows = 0;
  for (BlockUse const& use : uses) { rows = std::max(rows, end_row(use)); }
  return rows;
}

std::optional<std::uint32_t> TileVerdicts::judge(WorkTile const& tile, bool is_raw, tile::TileResult const& result) {
  std::span<BlockUse const> const uses = uses_of(tile);
  TileId const id = jobs_[uses.front().job].plan->block_id(uses.front().index);
  BlockOutcome outcome = judge_block(*tile.level, id, result, request_);
  std::lock_guard const lock(mutex_);
  if (outcome.error) {
    BlockUse const* blamed = &uses.front();
    if (is_raw && result.status == tile::TileStatus::truncated) {
      // Rows of an uncompressed block are read independently: a job that ends above the gap has all its rows.
      std::uint64_t const row_bytes = std::max<std::uint64_t>(1, tile.level->image.row_bytes());
      auto const short_of = std::ranges::find_if(
          uses, [&](BlockUse const& use) { return end_row(use) > result.bytes_written / row_bytes; });
      if (short_of != uses.end()) { blamed = &*short_of; }
    }
    std::uint64_t const order = order_of(*blamed);
    if (!failure_ || order < failed_order_) {
      failure_ = std::move(outcome.error);
      failed_order_ = order;
    }
    return std::nullopt;
  }
  if (outcome.bad) { bad_.emplace_back(order_of(uses.front()), *std::move(outcome.bad)); }
  return outcome.good_rows;
}

void TileVerdicts::fill_row(WorkTile const& tile, tile::RowFormat const& format, std::span<std::byte> row) const {
  BlockUse const& use = uses_of(tile).front();
  ReadPlan::Impl const& plan = *jobs_[use.job].plan;
  std::uint32_t const plane = plan.block_id(use.index).plane;
  bool const separate = plan.level->has_band_planes();
  std::size_t const pixel_bytes = std::size_t{format.samples} * format.sample_bytes;
  std::ranges::fill(row, std::byte{});
  for (std::size_t band = 0; band < plan.bands.size(); ++band) {
    if (separate && plan.bands[band] != plane + 1) { continue; }
    std::byte sample[16];
    stored_fill(plan, band, sample);
    std::size_t const at = separate ? 0 : (plan.bands[band] - 1) * std::size_t{format.sample_bytes};
    for (std::size_t pixel = 0; pixel < format.width_px; ++pixel) {
      std::memcpy(row.data() + pixel * pixel_bytes + at, sample, format.sample_bytes);
    }
  }
}

void TileVerdicts::finish(ReadReport& report) {
  std::ranges::stable_sort(bad_, {}, [](auto const& bad) { return bad.first; });
  for (auto& [order, bad] : bad_) { report.bad_tiles.push_back(std::move(bad)); }
  bad_.clear();
  if (failure_) { throw *failure_; }
}

std::uint64_t TileVerdicts::filled() const {
  std::lock_guard const lock(mutex_);
  return bad_.size();
}

}  // namespace terrazzo::reading
