// SPDX-License-Identifier: Apache-2.0
//
// Divides a read of uncompressed blocks into tasks. Any row of such a block can be read independently, so one huge
// strip is read in parallel and in small pieces, and short rows of neighbouring blocks are joined: memory is fastest
// with long runs.
#pragma once

#include "read/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// Rows of neighbouring blocks are joined up to this length. With 16 threads (none, 256 px), joining reaches 86 % of a
// plain read without joining, 101 % with 4 KiB, 109 % with this length, 110 % with twice as much; more numbers in
// docs/notes/2026-11-host-reads.md.
inline constexpr std::uint64_t kJoinedRowBytes = 8192;

// Some rows of some neighbouring blocks.
struct RawPiece {
  std::uint64_t first_block;  // index in the plan's order; the others follow it
  std::uint32_t blocks;
  std::uint32_t first_row, rows;  // rows of each block, independent of the window
};

class RawPieces {
 public:
  explicit RawPieces(ReadPlan::Impl const& plan);

  // The most memory that the lists of a plan take: reserve it before the pieces are made.
  [[nodiscard]] static std::uint64_t list_bytes(ReadPlan::Impl const& plan) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept;
  // In the order of the blocks' first rows. For a resampled result, includes only pieces with a row and a column of the
  // result: a raster of a few bytes may have 2^40 other pieces. REQUIRES: index < count().
  [[nodiscard]] RawPiece operator[](std::uint64_t index) const noexcept;
  // The number of blocks that are complete after the first `pieces` pieces.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t pieces) const noexcept;

 private:
  // A row of blocks that has rows of the result.
  struct WantedRow {
    std::uint32_t block_row;  // counted from the plan's first
    std::uint32_t pieces;  // pieces of each of its blocks
    std::uint64_t first_piece;  // index in wanted_pieces_
    std::uint64_t first_index;  // index of its first piece among the pieces of a plane
  };

  void join(std::uint32_t blocks) noexcept;
  void find_wanted();
  [[nodiscard]] RawPiece wanted_piece(std::uint64_t index) const noexcept;

  ReadPlan::Impl const& plan_;
  std::uint64_t piece_bytes_ = kRawPieceBytes;
  std::uint32_t joined_ = 1;  // blocks per piece, unless fewer are left in their row
  std::uint32_t groups_across_ = 0, rows_per_piece_ = 0, pieces_per_group_ = 0;
  // For resampled results only.
  std::vector<std::uint32_t> wanted_columns_;  // columns of blocks, counted from the plan's first
  std::vector<WantedRow> wanted_rows_;
  std::vector<std::uint32_t> wanted_pieces_;  // numbers of pieces in a block
  std::uint64_t pieces_per_plane_ = 0;
};

}  // namespace terrazzo::reading
