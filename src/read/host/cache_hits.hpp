// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a small read that the tile cache holds at its start. Any number of threads can share the copying of
// these blocks; the missing blocks are started first.
#pragma once

#include "read/host/tile_cache.hpp"
#include "read/plan/plan.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::reading {

// Some rows of a cached block.
struct CachedPiece {
  std::uint64_t block;  // index in the plan's order
  std::uint64_t place;  // index among the cached blocks
  std::uint32_t first_row, rows;  // among the rows that the block has in the result
  bool is_last;  // true for the last piece of its block
  std::shared_ptr<CachedBlock const> pixels;
};

class CacheHits {
 public:
  explicit CacheHits(ReadPlan::Impl const& plan);

  // The blocks of the plan that must be decoded, in its order. Blocks that resampling skips are in neither list.
  [[nodiscard]] std::span<std::uint64_t const> missing() const noexcept { return missing_; }
  // The pieces of the cached blocks, in the plan's order.
  [[nodiscard]] std::span<CachedPiece const> pieces() const noexcept { return pieces_; }
  // The number of cached blocks that are complete after the first `pieces` pieces.
  [[nodiscard]] std::uint64_t blocks_in(std::uint64_t pieces) const noexcept;
  // The number of threads that are worth waking to place the pieces.
  [[nodiscard]] std::uint64_t threads() const noexcept;

 private:
  void cut(std::uint64_t block, ReadPlan::Impl::Target const& target, std::uint64_t row_bytes,
           std::shared_ptr<CachedBlock const> const& pixels);

  std::vector<std::uint64_t> missing_;
  std::vector<CachedPiece> pieces_;
  std::uint64_t blocks_ = 0;
  std::uint64_t bytes_ = 0;  // bytes of the result
};

}  // namespace terrazzo::reading
