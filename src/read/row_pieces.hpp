// SPDX-License-Identifier: Apache-2.0
//
// Reads a window piece by piece, top down: the rows of each piece, and one progress over all pieces.
#pragma once

#include "terrazzo/read.hpp"

#include <cstdint>

namespace terrazzo::reading {

// Full-width pieces of a window in whole block rows, so that each block is decoded for one piece only.
class RowPieces {
 public:
  RowPieces() = default;
  // Pieces of at most `rows` rows. If a block has more rows, pieces are parts of blocks. REQUIRES: the window is not
  // empty, and neither number is 0.
  RowPieces(Window const& whole, std::uint64_t block_rows, std::uint64_t rows) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // In pixels of the level. REQUIRES: index < count().
  [[nodiscard]] Window window(std::uint64_t index) const noexcept;
  // The largest row count of a piece.
  [[nodiscard]] std::uint32_t max_rows() const noexcept;

 private:
  Window whole_{};
  std::uint64_t grid_row_ = 0;  // the row at which piece 0 would start if it were whole
  std::uint64_t rows_ = 1;      // rows of a whole piece
  std::uint64_t count_ = 0;
};

// One progress from 0 to `tiles` over the pieces of a result of `rows` rows, independent of the pieces' own counts,
// which may be tiles of masks or 0. Empty if `tell` is. Thread rule: as `tell`.
class PieceProgress {
 public:
  PieceProgress(Progress tell, std::uint64_t tiles, std::uint32_t rows);

  // The progress function for the piece of rows [first, end) of the result.
  [[nodiscard]] Progress of_rows(std::uint64_t first, std::uint64_t end) const;
  // Reports that the rows above `end` are read. Throws `cancelled` if `tell` returns false.
  void tell_done(std::uint64_t end) const;

 private:
  Progress tell_;
  std::uint64_t tiles_;
  std::uint32_t rows_;
};

}  // namespace terrazzo::reading
