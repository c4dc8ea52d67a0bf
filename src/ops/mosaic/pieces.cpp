// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/pieces.hpp"

#include "terrazzo/coordinates.hpp"

#include <algorithm>

namespace terrazzo::ops {
namespace {

std::uint64_t end_row(Window const& window) noexcept { return std::uint64_t{window.row} + window.height; }
std::uint64_t end_column(Window const& window) noexcept { return std::uint64_t{window.column} + window.width; }

void find_alone(std::vector<Piece>& pieces) {
  std::vector<Piece*> sorted;
  for (Piece& piece : pieces) {
    piece.alone = true;
    sorted.push_back(&piece);
  }
  std::ranges::sort(sorted, {}, [](Piece const* piece) { return piece->target.column; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size(); ++j) {
      if (sorted[j]->target.column >= end_column(sorted[i]->target)) { break; }
      if (!sorted[i]->alone && !sorted[j]->alone) { continue; }
      if (!is_empty(intersection(sorted[i]->target, sorted[j]->target))) {
        sorted[i]->alone = sorted[j]->alone = false;
      }
    }
  }
}

}  // namespace

PieceSweep::PieceSweep(std::span<Window const> targets) : targets_(targets) {
  for (std::uint32_t i = 0; i < targets.size(); ++i) {
    if (!is_empty(targets[i])) { by_row_.push_back(i); }
  }
  std::ranges::stable_sort(by_row_, {}, [&](std::uint32_t i) { return targets_[i].row; });
}

std::vector<Piece> PieceSweep::next(std::uint32_t first, std::uint32_t rows) {
  std::uint64_t const end = std::uint64_t{first} + rows;
  std::erase_if(active_, [&](std::uint32_t i) { return end_row(targets_[i]) <= first; });
  for (; begun_ < by_row_.size() && targets_[by_row_[begun_]].row < end; ++begun_) {
    if (end_row(targets_[by_row_[begun_]]) > first) { active_.push_back(by_row_[begun_]); }
  }
  std::ranges::sort(active_);
  std::vector<Piece> pieces;
  for (std::uint32_t const i : active_) {
    Window target = targets_[i];
    target.row = std::max(target.row, first);
    target.height = static_cast<std::uint32_t>(std::min(end, end_row(targets_[i])) - target.row);
    pieces.push_back({i, target});
  }
  find_alone(pieces);
  return pieces;
}

}  // namespace terrazzo::ops
