// SPDX-License-Identifier: Apache-2.0
//
// Puts what a thread has of a block where the read wants it: the covered rows and columns, at the result's size.
#pragma once

#include "read/block_reader.hpp"
#include "read/host_read.hpp"
#include "read/placer.hpp"
#include "read/tile_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// A block, and the part of the window that it covers, in pixels of the level.
struct BlockPart {
  TileId id;
  Window covered;
};

class BlockPlacer {
 public:
  BlockPlacer(HostRead const& read, BlockReader& reader, ThreadScratch& scratch);

  // True when finished rows of a block go to their places as they are.
  [[nodiscard]] bool is_direct() const noexcept { return placer_.is_direct(); }
  [[nodiscard]] bool is_streaming() const noexcept { return placer_.is_streaming(); }
  [[nodiscard]] bool takes_planes() const noexcept { return placer_.takes_planes() && !plan_.resampled(); }

  // False when the result has no pixel of the part: resampling skips some.
  [[nodiscard]] bool is_wanted(BlockPart const& part) const noexcept;
  // True when the part's rows are those of the block.
  [[nodiscard]] bool has_whole_rows(BlockPart const& part) const noexcept;
  // The last row of the block that the result takes of the part. REQUIRES: is_wanted().
  [[nodiscard]] std::uint32_t last_row(BlockPart const& part) const noexcept;
  // Where the part's first row goes. REQUIRES: is_direct().
  [[nodiscard]] std::byte* first_row(BlockPart const& part) const noexcept;

  // The decoded block of the reader, of which `rows` rows are good from its row `decoded_from` on, where finish_row()
  // counts from.
  void place_rows(BlockPart const& part, std::uint32_t decoded_from, std::uint32_t rows);
  // The part and those of the blocks right of it, `count` of them, all with whole rows, as stream_side_by_side() takes
  // them. REQUIRES: is_direct() and is_streaming().
  void place_side_by_side(BlockPart const& part, std::size_t count);
  // A whole block that is in planes, from its first pixel on.
  void place_planes(BlockPart const& part);
  // The decoded block of the reader, which goes to `block` as well. REQUIRES: all `rows` of it are good, and `block`
  // has room for them.
  void place_and_keep(BlockPart const& part, std::uint32_t rows, CachedBlock& block);
  // Of a block of finished rows, `rows` of those that the part has in the result, from its `first_row` on.
  void place_cached(BlockPart const& part, CachedBlock const& block, std::uint32_t first_row, std::uint32_t rows);
  // `rows` of the part were read straight to first_row() and the rows below it.
  void count_direct_rows(BlockPart const& part, std::uint32_t rows) const noexcept;
  // Pixels that are missing, from the block's row `from_row` on.
  void fill(BlockPart const& part, std::uint32_t from_row);

 private:
  using Target = ReadPlan::Impl::Target;

  // For the check of the result, where there is one: `rows` of the target, from its `first` on, have been written.
  void count(BlockPart const& part, Target const& target, std::uint32_t first, std::uint32_t rows) const noexcept {
    if (coverage_ != nullptr) { coverage_->add(part.id.plane, target.first_row + first, rows, target.columns); }
  }

  // The row of the block behind a row of the result.
  [[nodiscard]] std::uint32_t row_in_block(BlockPart const& part, std::uint32_t result_row) const noexcept;
  // Of a result of another size, for place_row().
  void find_columns(BlockPart const& part, Target const& target);
  void place_row(BlockPart const& part, Target const& target, std::uint32_t row, std::byte const* finished_row);
  // The first pixel of the part in a row of its block that begins at `row`.
  [[nodiscard]] std::byte const* first_pixel(BlockPart const& part, std::byte const* row) const noexcept;

  ReadPlan::Impl const& plan_;
  HostView const& destination_;
  MemoryBudget& budget_;
  ResultCoverage* coverage_;
  BlockReader& reader_;
  ThreadScratch& scratch_;
  Placer placer_;
  std::vector<std::uint32_t> columns_;  // of the block, behind those of the result
  std::vector<std::byte> gathered_;  // their pixels, of one row
  MemoryBudget::Reservation gathering_{};  // of both
};

}  // namespace terrazzo::reading
