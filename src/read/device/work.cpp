// SPDX-License-Identifier: Apache-2.0
#include "read/device/work.hpp"

#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "coding/deflate/format.hpp"
#include "read/plan/decode_method.hpp"
#include "read/result_coverage.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>

namespace terrazzo::reading {

namespace {

constexpr std::uint64_t kAlignment = 16;

std::strong_ordering compare_formats(Level const& a, Level const& b) {
  auto const key = [](Level const& level) {
    tiff::Image const& i = level.image;
    return std::tuple(level.dtype, level.bands, i.block_width_px, i.block_height_px, i.samples, i.bits, i.sample_format,
                      i.compression, effective_predictor(i), i.byte_order, i.separate_planes, i.photometric,
                      i.reversed_bits, i.tiled, i.is_converted_to_rgb());
  };
  if (auto const order = key(a) <=> key(b); order != 0) { return order; }
  return a.image.jpeg_tables <=> b.image.jpeg_tables;
}

}  // namespace

bool same_format(Level const& a, Level const& b) { return compare_formats(a, b) == 0; }

void sort_by_format(std::span<ReadJob> jobs) {
  std::ranges::stable_sort(jobs, [](ReadJob const& a, ReadJob const& b) {
    SourceTrust const a_trust = a.plan->dataset->trust(), b_trust = b.plan->dataset->trust();
    if (a_trust != b_trust) { return a_trust < b_trust; }
    Level const &first = *a.plan->level, &second = *b.plan->level;
    auto const order = compare_formats(first, second);
    return order != 0 ? order < 0 : first.id < second.id;
  });
}

DeviceWork collect_work(std::span<ReadJob const> jobs, DeviceMethod method, ListLimits const& limits) {
  BlockList list = list_blocks(jobs, limits);
  DeviceWork work;
  work.list_bytes = std::move(list.reserved);
  work.uses = std::move(list.uses);
  if (limits.budget != nullptr) {
    constexpr std::uint64_t kBytesOfUse = sizeof(WorkTile) + sizeof(tile::Placement);
    work.tile_bytes = limits.budget->reserve(saturating_product(work.uses.size(), kBytesOfUse), "the list of tiles");
  }
  std::uint64_t looked_up = 0;
  for (ListedBlock const& listed : list.blocks) {
    Level const& level = *listed.level;
    if (looked_up++ % kBlocksBetweenChecks == 0) { check_cancel(limits, level); }
    tiff::Image const& image = level.image;
    WorkTile tile{.level = &level, .block = listed.block, .first_use = listed.first_use, .use_count = listed.use_count};
    std::uint32_t const block_row = image.tile_id(tile.block).row;
    tile.decoded_bytes = image.block_bytes(image.block_rows(block_row));
    tiff::BlockRange const range = level.index.range(tile.block);
    tile.offset_bytes = range.offset_bytes;
    tile.size_bytes = range.size_bytes;
    if (range.size_bytes == 0) {
      work.sparse_tiles.push_back(tile);
      continue;
    }
    bool const raw = method == DeviceMethod::raw;
    // Decoders of whole images need one size per batch: the host decodes the short last strip.
    bool const odd = (method == DeviceMethod::jpeg || method == DeviceMethod::jpeg2000) &&
                     tile.decoded_bytes != image.block_bytes(image.block_height_px);
    bool const fits = range_fits(range.offset_bytes, range.size_bytes, level.source->size_bytes());
    if (!fits || odd || range.size_bytes > kMaxDeviceTileBytes || (raw && range.size_bytes < tile.decoded_bytes)) {
      work.host_tiles.push_back(tile);
      continue;
    }
    if (raw) { tile.size_bytes = tile.decoded_bytes; }
    work.input_bytes += tile.size_bytes;
    work.max_input_bytes = std::max(work.max_input_bytes, tile.size_bytes);
    work.max_decoded_bytes = std::max(work.max_decoded_bytes, tile.decoded_bytes);
    work.tiles.push_back(tile);
  }
  return work;
}

void check_coverage(std::span<ReadJob const> jobs, DeviceWork const& work) {
  std::deque<ResultCoverage> results;
  for (ReadJob const& job : jobs) { results.emplace_back(*job.plan); }
  for (std::vector<WorkTile> const* const tiles : {&work.tiles, &work.sparse_tiles, &work.host_tiles}) {
    for (WorkTile const& tile : *tiles) {
      for (std::size_t u = 0; u < tile.use_count; ++u) {
        BlockUse const& use = work.uses[tile.first_use + u];
        ReadPlan::Impl const& plan = *jobs[use.job].plan;
        TileId const id = plan.block_id(use.index);
        ReadPlan::Impl::Target const target = plan.target_of(plan.covered(id));
        results[use.job].add(id.plane, target.first_row, target.rows, target.columns);
      }
    }
  }
  for (ResultCoverage const& result : results) { result.check(); }
}

void share_with_host(DeviceWork& work, DeviceMethod method, double host_share, std::uint64_t finished_row_bytes) {
  std::size_t const count = work.tiles.size();
  auto const shared =
      method == DeviceMethod::host ? count : static_cast<std::size_t>(static_cast<double>(count) * host_share);
  work.device_tiles = count - shared;
  work.input_bytes = 0;
  for (std::size_t t = 0; t < work.device_tiles; ++t) { work.input_bytes += work.tiles[t].size_bytes; }
  for (std::size_t t = work.device_tiles; t < count; ++t) {
    WorkTile& tile = work.tiles[t];
    tiff::Image const& image = tile.level->image;
    std::uint32_t const block_row = image.tile_id(tile.block).row;
    tile.size_bytes = 0;  // nothing compressed goes up
    tile.decoded_bytes = std::uint64_t{image.block_rows(block_row)} * finished_row_bytes;
  }
}

std::uint64_t input_offset(DeviceMethod method, std::uint64_t end_of_previous) noexcept {
  if (method == DeviceMethod::jpeg) { return round_up(end_of_previous + kJpegHeadroomBytes, kAlignment); }
  if (method != DeviceMethod::deflate) { return round_up(end_of_previous, kAlignment); }
  return round_up(end_of_previous + coding::kZlibHeaderBytes, kAlignment) - coding::kZlibHeaderBytes;
}

std::uint64_t output_offset(std::uint64_t end_of_previous) noexcept { return round_up(end_of_previous, kAlignment); }

std::vector<WorkBatch> cut_batches(DeviceWork& work, DeviceMethod method, std::uint64_t tiles, std::uint64_t bytes) {
  std::vector<WorkBatch> batches;
  WorkBatch batch{.on_host = work.device_tiles == 0};
  for (std::size_t t = 0; t < work.tiles.size(); ++t) {
    WorkTile& tile = work.tiles[t];
    bool const on_host = t >= work.device_tiles;
    tile.input_offset = input_offset(method, batch.input_bytes);
    tile.output_offset = output_offset(batch.output_bytes);
    std::uint64_t const needed = tile.input_offset + tile.size_bytes + tile.output_offset + tile.decoded_bytes;
    if (batch.tile_count > 0 && (batch.tile_count == tiles || needed > bytes || on_host != batch.on_host)) {
      batches.push_back(batch);
      batch = {.first_tile = batch.first_tile + batch.tile_count, .on_host = on_host};
      tile.input_offset = input_offset(method, 0);
      tile.output_offset = 0;
    }
    batch.input_bytes = tile.input_offset + tile.size_bytes;
    batch.output_bytes = tile.output_offset + tile.decoded_bytes;
    batch.placement_count += tile.use_count;
    ++batch.tile_count;
  }
  if (batch.tile_count > 0) { batches.push_back(batch); }
  return batches;
}

tile::Placement placement_of(std::span<ReadJob const> jobs, BlockUse const& use, tile::ResultFormat const& result) {
  ReadPlan::Impl const& plan = *jobs[use.job].plan;
  tiff::Image const& image = plan.level->image;
  TileId const id = plan.block_id(use.index);
  Window const covered = plan.covered(id);
  ReadPlan::Impl::Target const target = plan.target_of(covered);
  std::uint32_t const top = id.row * image.block_height_px, left = id.column * image.block_width_px;
  tile::Placement placement;
  placement.destination_offset_bytes = jobs[use.job].destination_offset_bytes +
                                       static_cast<std::int64_t>(target.first_row) * result.row_stride_bytes +
                                       static_cast<std::int64_t>(target.first_column) * result.pixel_stride_bytes;
  placement.plane = id.plane;
  placement.first_row = covered.row - top;
  placement.first_column = covered.column - left;
  placement.rows = target.rows;
  placement.columns = target.columns;
  placement.result_row = target.first_row;
  placement.result_column = target.first_column;
  placement.row_origin = std::int64_t{plan.window.row} - top;
  placement.column_origin = std::int64_t{plan.window.column} - left;
  placement.bands_index = use.job * result.bands;
  return placement;
}

std::vector<tile::BandTarget> band_targets(ReadPlan::Impl const& plan) {
  std::vector<tile::BandTarget> targets(plan.bands.size());
  bool const separate = plan.level->has_band_planes();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].sample = separate ? 0 : plan.bands[i] - 1;
    targets[i].plane = separate ? plan.bands[i] - 1 : 0;
    targets[i].transform = plan.transforms[i];
    plan.fill_sample(i, targets[i].fill);
  }
  return targets;
}

}  // namespace terrazzo::reading
