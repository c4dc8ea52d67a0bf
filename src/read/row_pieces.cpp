// SPDX-License-Identifier: Apache-2.0
#include "read/row_pieces.hpp"

#include "base/checked.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::reading {

RowPieces::RowPieces(Window const& whole, std::uint64_t block_rows, std::uint64_t rows) noexcept
    : whole_(whole),
      grid_row_(whole.row / block_rows * block_rows),
      rows_(rows >= block_rows ? rows / block_rows * block_rows : rows) {
  // If the grid is finer than the blocks, whole pieces may lie above the window.
  if (grid_row_ + rows_ <= whole_.row) { grid_row_ = whole_.row; }
  count_ = ceil_div(std::uint64_t{whole_.row} + whole_.height - grid_row_, rows_);
}

Window RowPieces::window(std::uint64_t index) const noexcept {
  std::uint64_t const end = std::uint64_t{whole_.row} + whole_.height;
  std::uint64_t const first = std::clamp<std::uint64_t>(grid_row_ + index * rows_, whole_.row, end);
  std::uint64_t const last = std::min(grid_row_ + (index + 1) * rows_, end);
  return {whole_.column, static_cast<std::uint32_t>(first), whole_.width, static_cast<std::uint32_t>(last - first)};
}

std::uint32_t RowPieces::max_rows() const noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(rows_, whole_.height));
}

PieceProgress::PieceProgress(Progress tell, std::uint64_t tiles, std::uint32_t rows)
    : tell_(std::move(tell)), tiles_(tiles), rows_(std::max<std::uint32_t>(rows, 1)) {}

Progress PieceProgress::of_rows(std::uint64_t first, std::uint64_t end) const {
  if (!tell_) { return {}; }
  return [tell = tell_, tiles = tiles_, rows = static_cast<double>(rows_), first = static_cast<double>(first),
          more = static_cast<double>(end - first)](std::uint64_t done, std::uint64_t of) {
    double const done_rows =
        first + more * static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(of, 1));
    // Exact if pieces are whole rows of tiles.
    return tell(std::min(static_cast<std::uint64_t>(static_cast<double>(tiles) * done_rows / rows), tiles), tiles);
  };
}

void PieceProgress::tell_done(std::uint64_t end) const {
  if (tell_ && !of_rows(0, end)(1, 1)) { throw Error(ErrorKind::cancelled, "the read was cancelled"); }
}

}  // namespace terrazzo::reading
