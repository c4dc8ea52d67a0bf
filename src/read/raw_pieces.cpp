// SPDX-License-Identifier: Apache-2.0
#include "read/raw_pieces.hpp"

#include "base/checked.hpp"
#include "read/placer.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// So many pieces a thread at least, or blocks stay apart: the last piece of all is then 6 % of a thread's work.
constexpr std::uint64_t kPiecesPerThread = 16;
// Of small results, where a piece is not so small that reading it is mostly asking for it.
constexpr std::uint64_t kPiecesOfShare = 4;

}  // namespace

RawPieces::RawPieces(ReadPlan::Impl const& plan) : plan_(plan) {
  join(1);
  // Smaller results are read into as they are; of what is resampled, some blocks are not needed.
  if (!exceeds_caches(plan) || plan.resampled()) {
    std::uint64_t const share = plan.window_bytes() / plan.threads / kPiecesOfShare;
    piece_bytes_ = std::clamp(share, kRawGrainBytes, kRawPieceBytes);
    join(1);
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

std::uint64_t RawPieces::count() const noexcept {
  return std::uint64_t{groups_across_} * pieces_per_group_ * plan_.block_rows * plan_.planes.size();
}

RawPiece RawPieces::operator[](std::uint64_t index) const noexcept {
  std::uint64_t const first_block = blocks_in(index);
  auto const column = static_cast<std::uint32_t>(first_block % plan_.block_columns);
  std::uint32_t const first_row = static_cast<std::uint32_t>(index % pieces_per_group_) * rows_per_piece_;
  return {.first_block = first_block,
          .blocks = std::min(joined_, plan_.block_columns - column),
          .first_row = first_row,
          .rows = std::min(rows_per_piece_, plan_.level->image.block_height_px - first_row)};
}

std::uint64_t RawPieces::blocks_in(std::uint64_t pieces) const noexcept {
  std::uint64_t const groups = pieces / pieces_per_group_;
  return groups / groups_across_ * plan_.block_columns + groups % groups_across_ * joined_;
}

}  // namespace terrazzo::reading
