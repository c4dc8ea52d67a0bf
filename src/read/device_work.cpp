// SPDX-License-Identifier: Apache-2.0
#include "read/device_work.hpp"

#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "codec/codec.hpp"
#include "read/block_reader.hpp"
#include "read/result_coverage.hpp"
#include "read/row_finisher.hpp"
#include "terrazzo/error.hpp"
#include "tile/deflate_format.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>

namespace terrazzo::reading {

namespace {

constexpr std::uint64_t kAlignment = 16;
// Sizes on the device are kept in 32 bits here and there; a tile of this size has no business on it anyway.
constexpr std::uint64_t kMaxTileBytes = std::uint64_t{1} << 31;

bool is_lossy(tiff::Compression compression) {
  codec::Codec const* const codec = codec::find_codec(compression);
  return codec != nullptr && codec->lossy;
}

MethodChoice on_host(std::string reason) { return {DeviceMethod::host, std::move(reason)}; }

MethodChoice with_library(DeviceMethod method, bool available, std::string_view library, std::string_view name) {
  if (available) { return {method, {}}; }
  return on_host(text(library, " is not there, so the host decodes ", name));
}

}  // namespace

std::string_view to_string(DeviceMethod method) noexcept {
  switch (method) {
    case DeviceMethod::raw: return "copy";
    case DeviceMethod::lzw: return "LZW kernel";
    case DeviceMethod::packbits: return "PackBits kernel";
    case DeviceMethod::deflate: return "nvCOMP deflate";
    case DeviceMethod::zstd: return "nvCOMP zstd";
    case DeviceMethod::jpeg: return "nvJPEG";
    case DeviceMethod::jpeg2000: return "nvJPEG2000";
    case DeviceMethod::host: return "host threads";
  }
  return "";
}

MethodChoice choose_device_method(Level const& level, SourceTrust trust, ReadRequest const& request,
                                  DeviceAbilities const& abilities) {
  tiff::Image const& image = level.image;
  std::string const name(tiff::compression_name(image.compression));
  bool const trusted = trust != SourceTrust::none;
  if (request.strict) { return on_host("a strict read looks for surplus data, which device decoders do not report"); }
  if (request.exact && is_lossy(image.compression)) { return on_host(text(name, " is lossy and exact was asked for")); }
  if (image.is_converted_to_rgb() || image.has_packed_chroma()) {
    return on_host("colours are converted to RGB on the host");
  }
  if (image.reversed_bits) { return on_host("bits are in reversed order (FillOrder 2)"); }
  if (image.block_bytes(image.block_height_px) > kMaxTileBytes) { return on_host("blocks are larger than 2 GiB"); }
  switch (image.compression) {
    case tiff::Compression::none: return {DeviceMethod::raw, {}};
    case tiff::Compression::lzw: return {DeviceMethod::lzw, {}};
    case tiff::Compression::packbits: return {DeviceMethod::packbits, {}};
    case tiff::Compression::deflate:
    case tiff::Compression::pkzip_deflate:
    case tiff::Compression::zstd: {
      // nvCOMP calls corrupt input undefined behaviour.
      if (!trusted) { return on_host(text("the source is not trusted, and nvCOMP decodes ", name)); }
      bool const zstd = image.compression == tiff::Compression::zstd;
      if (zstd && trust != SourceTrust::stated) {
        return on_host(
            "nvCOMP's ZSTD does not survive damaged files; for files that are known to be whole, say trusted");
      }
      return with_library(zstd ? DeviceMethod::zstd : DeviceMethod::deflate, abilities.nvcomp, "nvCOMP", name);
    }
    case tiff::Compression::jpeg: {
      if (!trusted) { return on_host(text("the source is not trusted, and nvJPEG decodes ", name)); }
      if (image.bits != 8) { return on_host(text("JPEG of ", image.bits, " bits")); }
      if (image.samples_per_block() != 1 && image.samples_per_block() != 3) {
        return on_host(text("JPEG of ", image.samples_per_block(), " samples"));
      }
      return with_library(DeviceMethod::jpeg, abilities.nvjpeg, "nvJPEG", name);
    }
    case tiff::Compression::jpeg2000:
      if (!trusted) { return on_host(text("the source is not trusted, and nvJPEG2000 decodes ", name)); }
      if (image.photometric == tiff::Photometric::ycbcr) { return on_host("JPEG 2000 of YCbCr"); }
      if (image.bits != 8 && image.bits != 16) { return on_host(text("JPEG 2000 of ", image.bits, " bits")); }
      return with_library(DeviceMethod::jpeg2000, abilities.nvjpeg2k, "nvJPEG2000", name);
    default: return on_host(text("there is no device decoder for ", name));
  }
}

namespace {

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

void sort_by_format(std::span<DeviceJob> jobs) {
  std::ranges::stable_sort(jobs, [](DeviceJob const& a, DeviceJob const& b) {
    SourceTrust const a_trust = a.plan->dataset->trust(), b_trust = b.plan->dataset->trust();
    if (a_trust != b_trust) { return a_trust < b_trust; }
    Level const &first = *a.plan->level, &second = *b.plan->level;
    auto const order = compare_formats(first, second);
    return order != 0 ? order < 0 : first.id < second.id;
  });
}

namespace {

struct Wanted {
  Level const* level;
  std::uint64_t block;
  TileUse use;
};

// Throws `cancelled`; asked now and then.
void check_cancel(WorkLimits const& limits, Level const& level) {
  if (limits.cancel != nullptr && limits.cancel->load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::cancelled, "the read was cancelled", {.source = level.source->name()});
  }
}
constexpr std::uint64_t kTilesBetweenChecks = 4096;

// Of a plan's blocks, those that the result takes pixels of: resampling skips some.
std::uint64_t wanted_blocks(ReadPlan::Impl const& plan) noexcept {
  if (!plan.resampled()) { return plan.block_count(); }
  // Maps go up: a block's pixels are neighbours in them.
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

// How many tiles the jobs want, those that several want as often.
std::uint64_t count_wanted(std::span<DeviceJob const> jobs) {
  std::uint64_t count = 0;
  for (DeviceJob const& job : jobs) {
    auto const sum = checked_add(count, wanted_blocks(*job.plan));
    // Places in the list of bands are kept in 32 bits (tile::Placement).
    auto const bands = checked_product(jobs.size(), job.plan->bands.size());
    if (!sum || !bands || *bands > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorKind::limit, text(jobs.size(), " windows of ", job.plan->bands.size(), " bands in one call"));
    }
    count = *sum;
  }
  return count;
}

}  // namespace

DeviceWork collect_work(std::span<DeviceJob const> jobs, DeviceMethod method, WorkLimits limits) {
  DeviceWork work;
  std::uint64_t const count = count_wanted(jobs);
  if (limits.budget != nullptr) {
    constexpr std::uint64_t kBytesOfUse = sizeof(Wanted) + sizeof(TileUse) + sizeof(WorkTile) + sizeof(tile::Placement);
    work.lists = limits.budget->reserve(saturating_product(count, kBytesOfUse), "the list of tiles");
  }
  std::vector<Wanted> wanted;
  wanted.reserve(static_cast<std::size_t>(count));
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    ReadPlan::Impl const& plan = *jobs[j].plan;
    for (std::uint64_t i = 0; i < plan.block_count(); ++i) {
      if (i % kTilesBetweenChecks == 0) { check_cancel(limits, *plan.level); }
      TileId const id = plan.block_id(i);
      ReadPlan::Impl::Target const target = plan.target_of(plan.covered(id));
      if (target.rows == 0 || target.columns == 0) { continue; }  // resampling skips this block
      wanted.push_back({plan.level.get(), plan.block_number(id), {j, i}});
    }
  }
  // One plan is in order already.
  if (jobs.size() > 1) {
    std::ranges::stable_sort(wanted, [](Wanted const& a, Wanted const& b) {
      return std::tie(a.level->id, a.block) < std::tie(b.level->id, b.block);
    });
  }

  work.uses.reserve(wanted.size());
  std::uint64_t looked_up = 0;
  for (std::size_t i = 0; i < wanted.size();) {
    Level const& level = *wanted[i].level;
    if (looked_up++ % kTilesBetweenChecks == 0) { check_cancel(limits, level); }
    tiff::Image const& image = level.image;
    WorkTile tile{.level = &level, .block = wanted[i].block, .first_use = work.uses.size()};
    for (; i < wanted.size() && wanted[i].level == tile.level && wanted[i].block == tile.block; ++i) {
      work.uses.push_back(wanted[i].use);
      ++tile.use_count;
    }
    auto const block_row = static_cast<std::uint32_t>(tile.block % image.blocks_per_plane() / image.blocks_across);
    tile.decoded_bytes = image.block_bytes(image.block_rows(block_row));
    tiff::BlockRange const range = level.index.range(tile.block);
    tile.offset_bytes = range.offset_bytes;
    tile.size_bytes = range.size_bytes;
    if (range.size_bytes == 0) {
      work.sparse_tiles.push_back(tile);
      continue;
    }
    bool const raw = method == DeviceMethod::raw;
    // Decoders of whole images take one size a batch: the short last strip is the host's.
    bool const odd = (method == DeviceMethod::jpeg || method == DeviceMethod::jpeg2000) &&
                     tile.decoded_bytes != image.block_bytes(image.block_height_px);
    bool const fits = range_fits(range.offset_bytes, range.size_bytes, level.source->size_bytes());
    if (!fits || odd || range.size_bytes > kMaxTileBytes || (raw && range.size_bytes < tile.decoded_bytes)) {
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

void check_coverage(std::span<DeviceJob const> jobs, DeviceWork const& work) {
  std::deque<ResultCoverage> results;
  for (DeviceJob const& job : jobs) { results.emplace_back(*job.plan); }
  for (std::vector<WorkTile> const* const tiles : {&work.tiles, &work.sparse_tiles, &work.host_tiles}) {
    for (WorkTile const& tile : *tiles) {
      for (std::size_t u = 0; u < tile.use_count; ++u) {
        TileUse const& use = work.uses[tile.first_use + u];
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
    auto const block_row = static_cast<std::uint32_t>(tile.block % image.blocks_per_plane() / image.blocks_across);
    tile.size_bytes = 0;  // nothing compressed goes up
    tile.decoded_bytes = std::uint64_t{image.block_rows(block_row)} * finished_row_bytes;
  }
}

std::uint64_t input_offset(DeviceMethod method, std::uint64_t end_of_previous) noexcept {
  if (method == DeviceMethod::jpeg) { return round_up(end_of_previous + kJpegHeadroomBytes, kAlignment); }
  if (method != DeviceMethod::deflate) { return round_up(end_of_previous, kAlignment); }
  return round_up(end_of_previous + tile::kZlibHeaderBytes, kAlignment) - tile::kZlibHeaderBytes;
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

tile::Placement placement_of(std::span<DeviceJob const> jobs, TileUse const& use, tile::ResultFormat const& result) {
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
