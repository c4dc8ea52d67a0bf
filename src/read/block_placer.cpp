// SPDX-License-Identifier: Apache-2.0
#include "read/block_placer.hpp"

#include "tile/copy_samples.hpp"
#include "tile/prefetch.hpp"
#include "tile/stream_copy.hpp"

#include <algorithm>
#include <limits>

namespace terrazzo::reading {

BlockPlacer::BlockPlacer(HostRead const& read, BlockReader& reader, ThreadScratch& scratch)
    : plan_(read.plan),
      destination_(read.destination),
      budget_(read.budget),
      coverage_(read.coverage),
      reader_(reader),
      scratch_(scratch),
      placer_(plan_, destination_, reader.samples(), reader.pixel_bytes()) {}

bool BlockPlacer::is_wanted(BlockPart const& part) const noexcept { return !plan_.target_of(part.covered).empty(); }

bool BlockPlacer::has_whole_rows(BlockPart const& part) const noexcept {
  return part.covered.width == plan_.level->image.block_width_px;
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

void BlockPlacer::place_rows(BlockPart const& part, std::uint32_t decoded_from, std::uint32_t rows) {
  Target const target = plan_.target_of(part.covered);
  bool const straight = placer_.is_direct() && has_whole_rows(part);
  if (straight && placer_.is_streaming()) {
    std::uint32_t const first = row_in_block(part, target.first_row) - decoded_from;
    std::uint32_t const good = std::min(target.rows, rows - std::min(rows, first));
    reader_.stream_rows(first, good, first_row(part), destination_.row_stride_bytes);
    placer_.fence();
    count(part, target, 0, good);
    return;
  }
  find_columns(part, target);
  // `row` is free by now: only decoding used it.
  std::byte* const row_buffer = straight ? nullptr : scratch_.row.get(reader_.row_bytes()).data();
  std::byte const* row_pixels = nullptr;
  std::uint32_t finished = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t r = 0;
  for (; r < target.rows; ++r) {
    std::uint32_t const row = target.first_row + r, decoded = row_in_block(part, row) - decoded_from;
    if (decoded >= rows) { break; }
    if (straight) {
      reader_.finish_row(decoded, placer_.direct_row(part.id.plane, row, target.first_column));
      continue;
    }
    if (decoded != finished) { row_pixels = reader_.finished_row(decoded, row_buffer); }
    finished = decoded;  // upsampling asks for a row more than once, and a row can be finished once
    place_row(part, target, row, row_pixels);
  }
  placer_.fence();
  count(part, target, 0, r);
}

void BlockPlacer::place_side_by_side(BlockPart const& part, std::size_t count) {
  reader_.stream_side_by_side(count, part.covered.height, first_row(part), destination_.row_stride_bytes);
  tile::fence_streamed_copies();
  if (coverage_ != nullptr) {
    std::uint64_t const columns = std::uint64_t{part.covered.width} * count;
    coverage_->add(part.id.plane, part.covered.row - plan_.window.row, part.covered.height, columns);
  }
}

void BlockPlacer::count_direct_rows(BlockPart const& part, std::uint32_t rows) const noexcept {
  count(part, plan_.target_of(part.covered), 0, rows);
}

void BlockPlacer::place_planes(BlockPart const& part) {
  Target const target = plan_.target_of(part.covered);
  for (std::uint32_t r = 0; r < target.rows; ++r) {
    std::uint32_t const row = target.first_row + r;
    reader_.make_plane_row(r, target.columns, placer_.plane_rows(row, target.first_column, target.columns));
    placer_.flush_plane_rows(row, target.first_column, target.columns);
  }
  placer_.fence();
  count(part, target, 0, target.rows);
}

// Rows are placed as they are finished, out of the first cache.
void BlockPlacer::place_and_keep(BlockPart const& part, std::uint32_t rows, CachedBlock& block) {
  Target const target = plan_.target_of(part.covered);
  find_columns(part, target);
  std::size_t const row_bytes = reader_.row_bytes();
  std::uint32_t placed = 0;
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::byte* const kept = block.data() + r * row_bytes;
    if (r + 1 < rows) { reader_.prefetch_row(r + 1); }
    reader_.finish_row(r, kept);
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
  std::size_t const part_bytes = part.covered.width * reader_.pixel_bytes();
  auto const kept = [&](std::uint32_t row) { return block.data() + row_in_block(part, row) * reader_.row_bytes(); };
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

void BlockPlacer::find_columns(BlockPart const& part, Target const& target) {
  if (!plan_.resampled()) { return; }
  std::uint32_t const block_column = part.id.column * plan_.level->image.block_width_px;
  if (target.columns > columns_.capacity()) {
    gathering_ = {};
    gathering_ =
        budget_.reserve(target.columns * (sizeof(std::uint32_t) + reader_.pixel_bytes()), "a row of a target size");
  }
  columns_.resize(target.columns);
  for (std::uint32_t c = 0; c < target.columns; ++c) {
    columns_[c] = plan_.window.column + plan_.source_columns[target.first_column + c] - block_column;
  }
  gathered_.resize(target.columns * reader_.pixel_bytes());
}

void BlockPlacer::place_row(BlockPart const& part, Target const& target, std::uint32_t row,
                            std::byte const* finished_row) {
  std::byte const* pixels = gathered_.data();
  if (plan_.resampled()) {
    tile::gather_pixels(finished_row, columns_, reader_.pixel_bytes(), gathered_.data());
  } else {
    pixels = first_pixel(part, finished_row);
  }
  placer_.place(part.id.plane, row, target.first_column, pixels, target.columns);
}

std::byte const* BlockPlacer::first_pixel(BlockPart const& part, std::byte const* row) const noexcept {
  std::uint32_t const block_column = part.id.column * plan_.level->image.block_width_px;
  return row + (part.covered.column - block_column) * reader_.pixel_bytes();
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
