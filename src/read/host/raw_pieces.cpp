// SPDX-License-Identifier: Apache-2.0
#include "read/host/raw_pieces.hpp"

#include "base/checked.hpp"
#include "read/host/placer.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// Join blocks only if each thread gets at least this many pieces: the last piece is then 6 % of a thread's work.
constexpr std::uint64_t kPiecesPerThread = 16;
// Pieces per thread for small results. Smaller pieces would cost mostly the overhead of the read calls.
constexpr std::uint64_t kPiecesOfShare = 4;

// Upper bounds for the lists of a resampled result: limited by the rows and columns of the result, and by the window.
struct ListSizes {
  explicit ListSizes(ReadPlan::Impl const& plan) noexcept
      : columns(std::min<std::size_t>(plan.source_columns.size(), plan.block_columns)),
        rows(std::min<std::size_t>(plan.source_rows.size(), plan.block_rows)),
        pieces(std::min<std::size_t>(plan.source_rows.size(), plan.window.height)) {}
  std::size_t columns, rows, pieces;
};

}  // namespace

RawPieces::RawPieces(ReadPlan::Impl const& plan) : plan_(plan) {
  join(1);
  // Smaller results are read directly into place; a resampled result needs only some of the blocks.
  if (!exceeds_caches(plan) || plan.resampled()) {
    std::uint64_t const share = plan.window_bytes() / plan.threads / kPiecesOfShare;
    piece_bytes_ = std::clamp(share, kRawGrainBytes, kRawPieceBytes);
    join(1);
    if (plan.resampled()) { find_wanted(); }
    return;
  }
  std::uint64_t const fitting = kJoinedRowBytes / std::max<std::uint64_t>(1, plan.level->image.row_bytes());
  join(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, plan.block_columns)));
  if (count() < kPiecesPerThread * plan.threads) { join(1); }
}

void RawPieces::join(std::uint32_t blocks) noexcept {
  tiff::Image const& image = plan_.level->image;
  joined_ = blocks;
  groups_across_ = ceil_div(plan_.block_columns, joined_);
  std::uint64_t const row_bytes = std::max<std::uint64_t>(1, image.row_bytes() * joined_);
  rows_per_piece_ =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(piece_bytes_ / row_bytes, 1, image.block_height_px));
  pieces_per_group_ = ceil_div(image.block_height_px, rows_per_piece_);
}

std::uint64_t RawPieces::list_bytes(ReadPlan::Impl const& plan) noexcept {
  ListSizes const sizes(plan);
  return sizes.columns * sizeof(std::uint32_t) + sizes.rows * sizeof(WantedRow) + sizes.pieces * sizeof(std::uint32_t);
}

void RawPieces::find_wanted() {
  tiff::Image const& image = plan_.level->image;
  ListSizes const sizes(plan_);
  wanted_columns_.reserve(sizes.columns);
  for (std::uint32_t const column : plan_.source_columns) {  // ascending, like the rows below
    std::uint32_t const block = (plan_.window.column + column) / image.block_width_px - plan_.first_block_column;
    if (wanted_columns_.empty() || wanted_columns_.back() != block) { wanted_columns_.push_back(block); }
  }
  wanted_rows_.reserve(sizes.rows);
  wanted_pieces_.reserve(sizes.pieces);
  for (std::uint32_t const source_row : plan_.source_rows) {
    std::uint32_t const row = plan_.window.row + source_row;
    std::uint32_t const block_row = row / image.block_height_px - plan_.first_block_row;
    std::uint32_t const piece = row % image.block_height_px / rows_per_piece_;
    if (wanted_rows_.empty() || wanted_rows_.back().block_row != block_row) {
      wanted_rows_.push_back({block_row, 0, wanted_pieces_.size(), pieces_per_plane_});
    } else if (wanted_pieces_.back() == piece) {
      continue;
    }
    wanted_pieces_.push_back(piece);
    ++wanted_rows_.back().pieces;
    pieces_per_plane_ += wanted_columns_.size();
  }
}

RawPiece RawPieces::wanted_piece(std::uint64_t index) const noexcept {
  std::uint64_t const in_plane = index % pieces_per_plane_;
  auto const after = std::ranges::upper_bound(wanted_rows_, in_plane, {}, &WantedRow::first_index);
  WantedRow const& row = *(after - 1);
  std::uint64_t const in_row = in_plane - row.first_index;
  std::uint64_t const block = (index / pieces_per_plane_ * plan_.block_rows + row.block_row) * plan_.block_columns +
                              wanted_columns_[static_cast<std::size_t>(in_row / row.pieces)];
  std::uint32_t const first_row =
      wanted_pieces_[static_cast<std::size_t>(row.first_piece + in_row % row.pieces)] * rows_per_piece_;
  return {.first_block = block,
          .blocks = 1,
          .first_row = first_row,
          .rows = std::min(rows_per_piece_, plan_.level->image.block_height_px - first_row)};
}

std::uint64_t RawPieces::count() const noexcept {
  if (plan_.resampled()) { return pieces_per_plane_ * plan_.planes.size(); }
  return std::uint64_t{groups_across_} * pieces_per_group_ * plan_.block_rows * plan_.planes.size();
}

RawPiece RawPieces::operator[](std::uint64_t index) const noexcept {
  if (plan_.resampled()) { return wanted_piece(index); }
  std::uint64_t const first_block = blocks_in(index);
  auto const column = static_cast<std::uint32_t>(first_block % plan_.block_columns);
  std::uint32_t const first_row = static_cast<std::uint32_t>(index % pieces_per_group_) * rows_per_piece_;
  return {.first_block = first_block,
          .blocks = std::min(joined_, plan_.block_columns - column),
          .first_row = first_row,
          .rows = std::min(rows_per_piece_, plan_.level->image.block_height_px - first_row)};
}

std::uint64_t RawPieces::blocks_in(std::uint64_t pieces) const noexcept {
  if (plan_.resampled()) { return pieces < count() ? wanted_piece(pieces).first_block : plan_.block_count(); }
  std::uint64_t const groups = pieces / pieces_per_group_;
  return groups / groups_across_ * plan_.block_columns + groups % groups_across_ * joined_;
}

}  // namespace terrazzo::reading
