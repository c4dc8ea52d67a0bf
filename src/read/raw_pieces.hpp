// SPDX-License-Identifier: Apache-2.0
//
// How a read of blocks that are not compressed is cut into tasks. Any row of such a block can be read by itself, so one
// huge strip is parallel and small, and short rows of blocks that lie side by side are joined: long runs are what
// memory takes best.
#pragma once

#include "read/plan.hpp"

#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// Rows of neighbours are joined up to this length: with 16 threads (none, 256 px) 86 % of a plain read without joining,
// 101 % with 4 KiB, 109 % with this, 110 % with twice as much; docs/performance.md has the command.
inline constexpr std::uint64_t kJoinedRowBytes = 8192;

// Some rows of some blocks that lie side by side.
struct RawPiece {
  std::uint64_t first_block;  // in the plan's order; the others follow it
  std::uint32_t blocks;
  std::uint32_t first_row, rows;  // of each block, whatever the window takes of it
};

class RawPieces {
 public:
  explicit RawPieces(ReadPlan::Impl const& plan);

  // What is held for a plan, at most: to be reserved before it is made.
  [[nodiscard]] static std::uint64_t list_bytes(ReadPlan::Impl const& plan) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept;
  // In the order of the blocks' first rows. Of what is resampled, only pieces that the result takes a row and a column
  // of: a raster of a few bytes may have 2^40 others. REQUIRES: index < count().
  [[nodiscard]] RawPiece operator[](std::uint64_t index) const noexcept;
  // How many blocks the first `pieces` pieces make, in whole.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t pieces) const noexcept;

 private:
  // A row of blocks of which the result takes some rows.
  struct WantedRow {
    std::uint32_t block_row;  // from the plan's first on
    std::uint32_t pieces;  // of each of its blocks
    std::uint64_t first_piece;  // in wanted_pieces_
    std::uint64_t first_index;  // of its pieces among those of a plane
  };

  void join(std::uint32_t blocks) noexcept;
  void find_wanted();
  [[nodiscard]] RawPiece wanted_piece(std::uint64_t index) const noexcept;

  ReadPlan::Impl const& plan_;
  std::uint64_t piece_bytes_ = kRawPieceBytes;
  std::uint32_t joined_ = 1;  // blocks of a piece, where so many are left of their row
  std::uint32_t groups_across_ = 0, rows_per_piece_ = 0, pieces_per_group_ = 0;
  // Of what is resampled.
  std::vector<std::uint32_t> wanted_columns_;  // of blocks, from the plan's first on
  std::vector<WantedRow> wanted_rows_;
  std::vector<std::uint32_t> wanted_pieces_;  // by their numbers in a block
  std::uint64_t pieces_per_plane_ = 0;
};

}  // namespace terrazzo::reading
