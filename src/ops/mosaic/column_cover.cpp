// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/column_cover.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace terrazzo::ops {

ColumnCover::ColumnCover(std::vector<std::uint64_t> edges) : edges_(std::move(edges)) {
  std::ranges::sort(edges_);
  edges_.erase(std::ranges::unique(edges_).begin(), edges_.end());
  std::size_t const gaps = edges_.size() - 1;
  leaves_ = std::bit_ceil(gaps);
  nodes_.resize(2 * leaves_);
  // Leaves after the last gap need no range.
  for (std::size_t leaf = leaves_ + gaps; leaf < nodes_.size(); ++leaf) { nodes_[leaf] = {1, true}; }
  for (std::size_t node = leaves_; node-- > 1;) { refresh(node); }
}

std::size_t ColumnCover::leaf_of(std::uint64_t edge) const {
  return leaves_ + static_cast<std::size_t>(std::ranges::lower_bound(edges_, edge) - edges_.begin());
}

void ColumnCover::refresh(std::size_t node) {
  bool const by_children = node < leaves_ && nodes_[2 * node].covered && nodes_[2 * node + 1].covered;
  nodes_[node].covered = nodes_[node].ranges > 0 || by_children;
}

void ColumnCover::change(std::uint64_t first, std::uint64_t end, int by) {
  std::size_t const first_leaf = leaf_of(first), end_leaf = leaf_of(end);
  auto const bump = [&](std::size_t node) {
    nodes_[node].ranges += by;
    refresh(node);
  };
  // The fewest nodes that make up the range, from the leaves up.
  for (std::size_t left = first_leaf, right = end_leaf; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) { bump(left++); }
    if (right % 2 == 1) { bump(--right); }
  }
  for (std::size_t node = first_leaf / 2; node > 0; node /= 2) { refresh(node); }
  for (std::size_t node = (end_leaf - 1) / 2; node > 0; node /= 2) { refresh(node); }
}

}  // namespace terrazzo::ops
