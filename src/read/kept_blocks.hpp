// SPDX-License-Identifier: Apache-2.0
//
// What the tile cache has of a read of few blocks before it begins: those are only copied, which any number of threads
// can share, and the others begin first.
#pragma once

#include "read/plan.hpp"
#include "read/tile_cache.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::reading {

// Some rows of a block that is kept.
struct KeptPiece {
  std::uint64_t block;  // in the plan's order
  std::uint64_t place;  // of the block among those that are kept
  std::uint32_t first_row, rows;  // of those that the block has in the result
  bool is_last;  // of its pieces
  std::shared_ptr<CachedBlock const> pixels;
};

class KeptBlocks {
 public:
  explicit KeptBlocks(ReadPlan::Impl const& plan);

  // The blocks of the plan that must be decoded, in its order; those that resampling skips are neither here nor there.
  [[nodiscard]] std::span<std::uint64_t const> missing() const noexcept { return missing_; }
  // The others, in the same order.
  [[nodiscard]] std::span<KeptPiece const> pieces() const noexcept { return pieces_; }
  // How many of them the first `pieces` pieces make, in whole.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t pieces) const noexcept;
  // Threads that are worth waking to place them.
  [[nodiscard]] std::uint64_t threads() const noexcept;

 private:
  void cut(std::uint64_t block, ReadPlan::Impl::Target const& target, std::uint64_t row_bytes,
           std::shared_ptr<CachedBlock const> const& pixels);

  std::vector<std::uint64_t> missing_;
  std::vector<KeptPiece> pieces_;
  std::uint64_t blocks_ = 0;
  std::uint64_t bytes_ = 0;  // of the result
};

}  // namespace terrazzo::reading
