// SPDX-License-Identifier: Apache-2.0
//
// Ranges of columns that come and go, and whether together they cover all columns: logarithmic time for each change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::ops {

class ColumnCover {
 public:
  // `edges` are the first column of all, the end, and those of all ranges to come, in any order.
  explicit ColumnCover(std::vector<std::uint64_t> edges);

  // Adds the range [first, end), or takes an added one away. REQUIRES: first < end, both in `edges`.
  void add(std::uint64_t first, std::uint64_t end) { change(first, end, 1); }
  void take_away(std::uint64_t first, std::uint64_t end) { change(first, end, -1); }

  [[nodiscard]] bool is_complete() const noexcept { return nodes_[1].covered; }

 private:
  // A node of a binary tree over the gaps between neighbouring edges.
  struct Node {
    std::int64_t ranges = 0;  // those that cover the node's gaps, and not those of its parent
    bool covered = false;
  };

  void change(std::uint64_t first, std::uint64_t end, int by);
  void refresh(std::size_t node);
  [[nodiscard]] std::size_t leaf_of(std::uint64_t edge) const;

  std::vector<std::uint64_t> edges_;
  std::size_t leaves_;  // a power of two; node 1 is the root, and node n has the children 2n and 2n + 1
  std::vector<Node> nodes_;
};

}  // namespace terrazzo::ops
