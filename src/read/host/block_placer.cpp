// SPDX-License-Identifier: Apache-2.0
#include "read/host/block_placer.hpp"

#include "tile/copy_samples.hpp"
#include "tile/host/prefetch.hpp"
#include "tile/host/stream_copy.hpp"

#include <algorithm>
#include <limits>

namespace terrazzo::reading {

BlockPlacer::BlockPlacer(ReadPlan::Impl const& plan, HostView const& destination, MemoryBudget& budget,
                         ResultCoverage* coverage, RowLayout const& layout, ThreadScratch& scratch)
    : plan_(plan),
      destination_(destination),
      budget_(budget),
      coverage_(coverage),
      layout_(layout),
      scratch_(scratch),
      placer_(plan_, destination_, layout.samples, layout.pixel_bytes) {}

bool BlockPlacer::is_wanted(BlockPart const& part) const noexcept { return !plan_.target_of(part.covered).empty(); }

bool BlockPlacer::has_whole_rows(BlockPart const& part) const noexcept {
  return part.covered.width == plan_.level->image.block_width_px;
}

bool BlockPlacer::is_partial(BlockPart const& part) const noexcept {
  tiff::Image const& image = plan_.level->image;
  auto const& [id, covered] = part;
  return covered.width < std::min(image.block_width_px, image.width_px - id.column * image.block_width_px) ||
         covered.height < std::min(image.block_height_px, image.height_px - id.row * image.block_height_px);
}

std::uint32_t BlockPlacer::last_row(BlockPart const& part) const noexcept {
  Target const target = plan_.target_of(part.covered);
  return row_in_block(part, target.first_row + target.rows - 1);
}

std::byte* BlockPlacer::first_row(BlockPart const& part) const noexcept {
  Target const target = plan_.target_of(part.covered);
  return placer_.direct_row(part.id.plane, target.first_row, target.first_column);
}

std::uint32_t BlockPlacer::row_in_block(BlockPart const& part, std::uint32_t result_row) const noexcept {
  std::uint32_t const row = plan_.window.row + (plan_.resampled() ? plan_.source_rows[result_row] : result_row);
  return row - part.id.row * plan_.level->image.block_height_px;
}

void BlockPlacer::place_rows(BlockPart const& part, DecodedRows const& decoded, std::uint32_t decoded_from,
                             std::uint32_t rows) {
  Target const target = plan_.target_of(part.covered);
  bool const straight = placer_.is_direct() && has_whole_rows(part);
  if (straight && placer_.is_streaming()) {
    std::uint32_t const first = row_in_block(part, target.first_row) - decoded_from;
    std::uint32_t const good = std::min(target.rows, rows - std::min(rows, first));
    // `row` is free here: only decoding uses it.
    std::byte* const row_buffer = scratch_.row.get(layout_.row_bytes).data();
    decoded.stream_rows(first, good, row_buffer, first_row(part), destination_.row_stride_bytes);
    placer_.fence();
    count(part, target, 0, good);
    return;
  }
  find_columns(part, target);
  std::byte* const row_buffer = straight ? nullptr : scratch_.row.get(layout_.row_bytes).data();
  std::byte const* row_pixels = nullptr;
  std::uint32_t finished = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t r = 0;
  for (; r < target.rows; ++r) {
    std::uint32_t const row = target.first_row + r, decoded_row = row_in_block(part, row) - decoded_from;
    if (decoded_row >= rows) { break; }
    if (straight) {
      decoded.finish_row(decoded_row, placer_.direct_row(part.id.plane, row, target.first_column));
      continue;
    }
    if (decoded_row != finished) { row_pixels = decoded.finished_row(decoded_row, row_buffer); }
    finished = decoded_row;  // upsampling needs a row several times, and a row can be finished only once
    place_row(part, target, row, row_pixels);
  }
  placer_.fence();
  count(part, target, 0, r);
}

void BlockPlacer::place_side_by_side(BlockPart const& part, RawRows const& raw, std::size_t place, std::size_t count) {
  raw.stream_side_by_side(place, count, part.covered.height, first_row(part), destination_.row_stride_bytes);
  tile::fence_streamed_copies();
  if (coverage_ != nullptr) {
    std::uint64_t const columns = std::uint64_t{part.covered.width} * count;
    coverage_->add(part.id.plane, part.covered.row - plan_.window.row, part.covered.height, columns);
  }
}

void BlockPlacer::count_direct_rows(BlockPart const& part, std::uint32_t rows) const noexcept {
  count(part, plan_.target_of(part.covered), 0, rows);
}

void BlockPlacer::place_planes(BlockPart const& part, DecodedRows const& decoded) {
  Target const target = plan_.target_of(part.covered);
  for (std::uint32_t r = 0; r < target.rows; ++r) {
    std::uint32_t const row = target.first_row + r;
    decoded.make_plane_row(r, target.columns, placer_.plane_rows(row, target.first_column, target.columns));
    placer_.flush_plane_rows(row, target.first_column, target.columns);
  }
  placer_.fence();
  count(part, target, 0, target.rows);
}

// Place each row right after it is finished, while it is in the L1 cache.
void BlockPlacer::place_and_keep(BlockPart const& part, DecodedRows const& decoded, std::uint32_t rows,
                                 CachedBlock& block) {
  Target const target = plan_.target_of(part.covered);
  find_columns(part, target);
  std::size_t const row_bytes = layout_.row_bytes;
  std::uint32_t placed = 0;
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::byte* const kept = block.data() + r * row_bytes;
    if (r + 1 < rows) { decoded.prefetch_row(r + 1); }
    decoded.finish_row(r, kept);
    for (; placed < target.rows && row_in_block(part, target.first_row + placed) == r; ++placed) {
      place_row(part, target, target.first_row + placed, kept);
    }
  }
  placer_.fence();
  count(part, target, 0, placed);
}

void BlockPlacer::place_cached(BlockPart const& part, CachedBlock const& block, std::uint32_t first_row,
                               std::uint32_t rows) {
  Target const target = plan_.target_of(part.covered);
  find_columns(part, target);
  std::size_t const part_bytes = part.covered.width * layout_.pixel_bytes;
  auto const kept = [&](std::uint32_t row) { return block.data() + row_in_block(part, row) * layout_.row_bytes; };
  for (std::uint32_t r = first_row; r < first_row + rows; ++r) {
    std::uint32_t const row = target.first_row + r;
    if (r + tile::kPrefetchedRows < first_row + rows) {
      tile::prefetch_start(first_pixel(part, kept(row + tile::kPrefetchedRows)), part_bytes);
    }
    place_row(part, target, row, kept(row));
  }
  placer_.fence();
  count(part, target, first_row, rows);
}

void BlockPlacer::place_finished(BlockPart const& part, CachedBlock const& block, std::uint32_t good_rows) {
  Target const target = plan_.target_of(part.covered);
  std::uint32_t rows = target.rows;
  while (rows > 0 && row_in_block(part, target.first_row + rows - 1) >= good_rows) { --rows; }
  place_cached(part, block, 0, rows);
}

void BlockPlacer::find_columns(BlockPart const& part, Target const& target) {
  if (!plan_.resampled()) { return; }
  std::uint32_t const block_column = part.id.column * plan_.level->image.block_width_px;
  if (target.columns > columns_.capacity()) {
    gathering_ = {};
    gathering_ =
        budget_.reserve(target.columns * (sizeof(std::uint32_t) + layout_.pixel_bytes), "a row of a target size");
  }
  columns_.resize(target.columns);
  for (std::uint32_t c = 0; c < target.columns; ++c) {
    columns_[c] = plan_.window.column + plan_.source_columns[target.first_column + c] - block_column;
  }
  gathered_.resize(target.columns * layout_.pixel_bytes);
}

void BlockPlacer::place_row(BlockPart const& part, Target const& target, std::uint32_t row,
                            std::byte const* finished_row) {
  std::byte const* pixels = gathered_.data();
  if (plan_.resampled()) {
    tile::gather_pixels(finished_row, columns_, layout_.pixel_bytes, gathered_.data());
  } else {
    pixels = first_pixel(part, finished_row);
  }
  placer_.place(part.id.plane, row, target.first_column, pixels, target.columns);
}

std::byte const* BlockPlacer::first_pixel(BlockPart const& part, std::byte const* row) const noexcept {
  std::uint32_t const block_column = part.id.column * plan_.level->image.block_width_px;
  return row + (part.covered.column - block_column) * layout_.pixel_bytes;
}

void BlockPlacer::fill(BlockPart const& part, std::uint32_t from_row) {
  Target const target = plan_.target_of(part.covered);
  for (std::uint32_t r = 0; r < target.rows; ++r) {
    std::uint32_t const row = target.first_row + r;
    if (row_in_block(part, row) < from_row) { continue; }
    placer_.fill(part.id.plane, row, target.first_column, target.columns);
    count(part, target, r, 1);
  }
}

}  // namespace terrazzo::reading
