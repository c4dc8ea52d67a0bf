// SPDX-License-Identifier: Apache-2.0
#include "write/overviews/cascade.hpp"

#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "geo/metadata/color.hpp"
#include "tile/reduce/table_bytes.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace terrazzo::writing {

namespace {

// The index (from 0) of the alpha band: the last band if it is alpha, otherwise the first alpha band. The options state
// the bands' colours, or their number implies them.
std::optional<std::uint32_t> find_alpha(FilePlan const& plan) noexcept {
  auto const& bands = plan.options.band_info;
  auto const is_alpha = [](BandInfo const& band) { return band.color == ColorInterpretation::alpha; };
  std::uint32_t const last = plan.options.bands - 1;
  bool const implied = bands.empty() && !plan.extra_samples.empty() && plan.extra_samples.back() != 0;
  if (implied || (!bands.empty() && is_alpha(bands.back()))) { return last; }
  auto const found = std::ranges::find_if(bands, is_alpha);
  if (found == bands.end()) { return std::nullopt; }
  return static_cast<std::uint32_t>(found - bands.begin());
}

// As in GDAL: alpha is reduced over its non-zero pixels, and masks the other bands if readers use it as a mask. But if
// nothing marks pixels of the first band as missing, no pixel of any band is missing, alpha included.
void set_alpha(FilePlan const& plan, ReductionSpec& spec) noexcept {
  auto const alpha = find_alpha(plan);
  if (!alpha || is_complex(spec.dtype)) { return; }
  spec.alpha_masks_others = *alpha == spec.bands - 1 && geo::last_alpha_masks_others(spec.bands, spec.dtype);
  if (spec.mask || spec.nodata || spec.alpha_masks_others || *alpha == 0) { spec.alpha_band = alpha; }
}

// Before the tables of the reductions are made: a raster of a few bytes may have 2^31 rows.
void check_memory(std::span<ReductionSpec const> specs) {
  std::uint64_t bytes = 0;
  for (ReductionSpec const& spec : specs) { bytes = saturating_sum(bytes, tile::table_bytes(spec)); }
  MemoryBudget budget(resolve_memory_limit(0));
  static_cast<void>(budget.reserve(bytes, "the tables of the overviews"));
}

}  // namespace

std::vector<ReductionSpec> reduction_specs(FilePlan const& plan) {
  std::vector<ReductionSpec> specs;
  for (std::size_t level = 1; level < plan.levels.size(); ++level) {
    std::size_t const source = plan.source_of[level - 1];
    ReductionSpec spec;
    spec.source_width = plan.levels[source].width;
    spec.source_height = plan.levels[source].height;
    spec.width = plan.levels[level].width;
    spec.height = plan.levels[level].height;
    spec.dtype = plan.options.dtype;
    spec.bands = plan.options.bands;
    spec.method = plan.resampling;
    spec.nodata = plan.options.nodata;
    spec.mask = plan.options.mask;
    set_alpha(plan, spec);
    specs.push_back(spec);
  }
  return specs;
}

std::uint32_t window_rows(FilePlan const& plan, std::size_t level, std::uint32_t rows) {
  // Rows that arrive at once, rows that wait for their block row, and rows that overviews of this level still need: the
  // widest kernel (Lanczos) makes a row from six times the ratio.
  LevelPlan const& geometry = plan.levels[level];
  std::uint64_t kept = 0;
  for (std::size_t other = level + 1; other < plan.levels.size(); ++other) {
    if (plan.source_of[other - 1] != level) { continue; }
    std::uint64_t const height = plan.levels[other].height;
    kept = std::max(kept, 6 * ((geometry.height + height - 1) / height) + 2);
  }
  std::uint64_t const source_height = plan.levels.front().height;
  std::uint64_t const at_once = (std::uint64_t{rows} * geometry.height + source_height - 1) / source_height;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(geometry.height, at_once + geometry.block_height + kept));
}

template <MemoryKind kind>
Cascade<kind>::Cascade(FilePlan const& plan, RowEngine<kind>& engine, std::uint32_t room)
    : plan_(plan), engine_(engine), tail_(plan, engine, plan.levels.front().width, 0) {
  std::vector<ReductionSpec> const specs = reduction_specs(plan);
  check_memory(specs);
  for (std::size_t level = 1; level < plan.levels.size(); ++level) {
    overviews_.push_back({Reduction(specs[level - 1]),
                          RowWindow<kind>(plan, engine, plan.levels[level].width, window_rows(plan, level, room)),
                          plan.source_of[level - 1]});
  }
}

template <MemoryKind kind>
void Cascade<kind>::advance(ConstRows<kind> const& rows) {
  for (std::size_t level = 1; level < plan_.levels.size(); ++level) { reduce_level(level, rows); }
  keep_tail(rows);
  name_blocks(rows);
  engine_.encode(jobs_);
  drop_rows();
}

template <MemoryKind kind>
std::uint32_t Cascade<kind>::rows_until(Overview const& overview, std::uint32_t height, std::uint32_t from,
                                        std::uint32_t source_end) const {
  std::uint32_t row = from;
  while (row < height && overview.reduction.source_rows(row).last <= source_end) { ++row; }
  return row;
}

template <MemoryKind kind>
void Cascade<kind>::reduce_level(std::size_t level, ConstRows<kind> const& raster) {
  Overview& overview = overviews_[level - 1];
  ConstRows<kind> const source = overview.source == 0 ? raster : overviews_[overview.source - 1].rows;
  std::uint32_t const source_end = source.first + source.pixels.height;
  std::uint32_t const end = rows_until(overview, plan_of(level).height, overview.next_row, source_end);
  std::uint32_t const count = end - overview.next_row;
  Rows<kind> const result = overview.window.append(count);
  std::uint32_t row = overview.next_row;
  if (overview.source == 0) {
    // Result rows whose source begins before these raster rows are made from a copy that joins both parts.
    std::uint32_t split = row;
    while (split < end && overview.reduction.source_rows(split).first < raster.first) { ++split; }
    if (split > row) {
      std::uint32_t const needed = overview.reduction.source_rows(split - 1).last;
      if (needed > tail_.end()) { tail_.append(raster, tail_.end(), needed); }
      engine_.reduce(level, overview.reduction, tail_.rows(), rows_between(result, row, split));
      row = split;
    }
  }
  if (row < end) { engine_.reduce(level, overview.reduction, source, rows_between(result, row, end)); }
  overview.next_row = end;
  overview.rows = overview.window.rows();
}

template <MemoryKind kind>
void Cascade<kind>::keep_tail(ConstRows<kind> const& raster) {
  std::uint32_t const end = raster.first + raster.pixels.height;
  std::uint32_t needed = end;
  for (std::size_t level = 1; level < plan_.levels.size(); ++level) {
    Overview const& overview = overviews_[level - 1];
    if (overview.source == 0 && overview.next_row < plan_of(level).height) {
      needed = std::min(needed, overview.reduction.source_rows(overview.next_row).first);
    }
  }
  if (needed >= tail_.end() || tail_.first() == tail_.end()) {
    tail_.restart(std::max(needed, raster.first));
  } else {
    tail_.drop_before(needed);
  }
  if (tail_.end() < end) { tail_.append(raster, tail_.end(), end); }
}

template <MemoryKind kind>
void Cascade<kind>::name_block_row(std::size_t level, std::uint32_t block_row, ConstRows<kind> const& rows) {
  for (std::uint32_t plane = 0; plane < plan_.planes; ++plane) {
    for (std::uint32_t column = 0; column < plan_of(level).blocks_across; ++column) {
      jobs_.push_back({level, {column, block_row, plane}, &rows});
    }
  }
}

template <MemoryKind kind>
void Cascade<kind>::name_blocks(ConstRows<kind> const& raster) {
  jobs_.clear();
  LevelPlan const& full = plan_of(0);
  std::uint32_t const end = raster.first + raster.pixels.height;
  for (std::uint32_t block_row = raster.first / full.block_height; full.first_row(block_row) < end; ++block_row) {
    if (plan_.first_level == 0) { name_block_row(0, block_row, raster); }
    std::uint32_t const raster_end = full.first_row(block_row) + full.rows_of(block_row);
    for (std::size_t level = 1; level < plan_.levels.size(); ++level) {
      Overview& overview = overviews_[level - 1];
      LevelPlan const& geometry = plan_of(level);
      std::uint32_t const source_end = overview.source == 0 ? raster_end : overviews_[overview.source - 1].planned_row;
      overview.planned_row = rows_until(overview, geometry.height, overview.planned_row, source_end);
      while (overview.next_block_row < geometry.blocks_down &&
             geometry.first_row(overview.next_block_row) + geometry.rows_of(overview.next_block_row) <=
                 overview.planned_row) {
        name_block_row(level, overview.next_block_row++, overview.rows);
      }
    }
    if (full.blocks_down == block_row + 1) { break; }
  }
}

template <MemoryKind kind>
void Cascade<kind>::drop_rows() {
  for (std::size_t level = 1; level < plan_.levels.size(); ++level) {
    Overview& overview = overviews_[level - 1];
    std::uint32_t needed = overview.next_block_row * plan_of(level).block_height;
    for (std::size_t other = level + 1; other < plan_.levels.size(); ++other) {
      Overview const& dependent = overviews_[other - 1];
      if (dependent.source == level && dependent.next_row < plan_of(other).height) {
        needed = std::min(needed, dependent.reduction.source_rows(dependent.next_row).first);
      }
    }
    overview.window.drop_before(needed);
    overview.rows = overview.window.rows();
  }
}

template class Cascade<MemoryKind::host>;
template class Cascade<MemoryKind::device>;

}  // namespace terrazzo::writing
