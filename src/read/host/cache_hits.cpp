// SPDX-License-Identifier: Apache-2.0
#include "read/host/cache_hits.hpp"

#include "base/checked.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// Copying a piece takes about 20 microseconds, and so does waking a thread: wake a thread for two pieces or more.
constexpr std::uint64_t kPieceBytes = 128 << 10, kBytesOfThread = 2 * kPieceBytes;

}  // namespace

CacheHits::CacheHits(ReadPlan::Impl const& plan) {
  for (std::uint64_t i = 0; i < plan.block_count(); ++i) {
    TileId const id = plan.block_id(i);
    ReadPlan::Impl::Target const target = plan.target_of(plan.covered(id));
    if (target.empty()) { continue; }
    auto const pixels = tile_cache().find({plan.level->id, plan.block_number(id)});
    if (pixels == nullptr) {
      missing_.push_back(i);
      continue;
    }
    // Interleaved bands: each band of a pixel is copied to its own place in the result.
    std::uint64_t const bands = plan.level->has_band_planes() ? 1 : plan.bands.size();
    cut(i, target, target.columns * bands * size_bytes(plan.dtype), pixels);
  }
}

void CacheHits::cut(std::uint64_t block, ReadPlan::Impl::Target const& target, std::uint64_t row_bytes,
                    std::shared_ptr<CachedBlock const> const& pixels) {
  auto const rows_of_piece =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kPieceBytes / row_bytes, 1, target.rows));
  bytes_ += row_bytes * target.rows;
  for (std::uint32_t row = 0, rows = 0, left = target.rows; left > 0; row += rows, left -= rows) {
    rows = std::min(rows_of_piece, left);
    pieces_.push_back({block, blocks_, row, rows, rows == left, pixels});
  }
  ++blocks_;
}

std::uint64_t CacheHits::blocks_in(std::uint64_t pieces) const noexcept {
  if (pieces == 0) { return 0; }
  CachedPiece const& last = pieces_[static_cast<std::size_t>(pieces) - 1];
  return last.place + (last.is_last ? 1 : 0);
}

std::uint64_t CacheHits::threads() const noexcept { return ceil_div(bytes_, kBytesOfThread); }

}  // namespace terrazzo::reading
