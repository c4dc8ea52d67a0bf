// SPDX-License-Identifier: Apache-2.0
//
// Places a thread's decoded block in the result: the covered rows and columns, at the result's size.
#pragma once

#include "read/blocks/decoded_rows.hpp"
#include "read/blocks/raw_rows.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/host/placer.hpp"
#include "read/host/read_context.hpp"
#include "read/host/tile_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// A block and the part of the window that it covers, in pixels of the level.
struct BlockPart {
  TileId id;
  Window covered;
};

class BlockPlacer {
 public:
  // `layout` describes the rows to place.
  BlockPlacer(ReadContext const& read, RowLayout const& layout, ThreadScratch& scratch)
      : BlockPlacer(read.plan, read.destination, read.budget, read.coverage, layout, scratch) {}
  // `coverage` may be null. All arguments outlive this object.
  BlockPlacer(ReadPlan::Impl const& plan, HostView const& destination, MemoryBudget& budget, ResultCoverage* coverage,
              RowLayout const& layout, ThreadScratch& scratch);

  // True if finished rows of a block are copied to the result unchanged.
  [[nodiscard]] bool is_direct() const noexcept { return placer_.is_direct(); }
  [[nodiscard]] bool is_streaming() const noexcept { return placer_.is_streaming(); }
  [[nodiscard]] bool takes_planes() const noexcept { return placer_.takes_planes() && !plan_.resampled(); }

  // False if the result has no pixel of the part: resampling skips some blocks.
  [[nodiscard]] bool is_wanted(BlockPart const& part) const noexcept;
  // True if the part has the full width of the block.
  [[nodiscard]] bool has_whole_rows(BlockPart const& part) const noexcept;
  // True if the part omits pixels of the block that are inside the image.
  [[nodiscard]] bool is_partial(BlockPart const& part) const noexcept;
  // The last row of the block that the result uses from the part. REQUIRES: is_wanted().
  [[nodiscard]] std::uint32_t last_row(BlockPart const& part) const noexcept;
  // The destination of the part's first row. REQUIRES: is_direct().
  [[nodiscard]] std::byte* first_row(BlockPart const& part) const noexcept;

  // Places decoded rows of the part's block. `rows` rows are valid, from row `decoded_from` of the block on, which is
  // the first row of `decoded`.
  void place_rows(BlockPart const& part, DecodedRows const& decoded, std::uint32_t decoded_from, std::uint32_t rows);
  // Places the part, which has index `place` in the piece that was read, and the `count` - 1 blocks to its right, all
  // with whole rows, by stream_side_by_side(). REQUIRES: is_direct() and is_streaming().
  void place_side_by_side(BlockPart const& part, RawRows const& raw, std::size_t place, std::size_t count);
  // Places a whole block that is in planes, from its first pixel on.
  void place_planes(BlockPart const& part, DecodedRows const& decoded);
  // Places a decoded block and copies it to `block`. REQUIRES: all `rows` rows are valid, and `block` has room for
  // them.
  void place_and_keep(BlockPart const& part, DecodedRows const& decoded, std::uint32_t rows, CachedBlock& block);
  // Places `rows` rows of a block of finished rows, from `first_row` of the part's rows in the result on.
  void place_cached(BlockPart const& part, CachedBlock const& block, std::uint32_t first_row, std::uint32_t rows);
  // Places all rows of the part that are among the block's first `good_rows` rows.
  void place_finished(BlockPart const& part, CachedBlock const& block, std::uint32_t good_rows);
  // Call it after `rows` rows of the part were read straight to first_row() and the rows below it.
  void count_direct_rows(BlockPart const& part, std::uint32_t rows) const noexcept;
  // Fills missing pixels, from row `from_row` of the block on.
  void fill(BlockPart const& part, std::uint32_t from_row);

 private:
  using Target = ReadPlan::Impl::Target;

  // For the check of the result, if enabled: counts `rows` written rows of the target, from `first` on.
  void count(BlockPart const& part, Target const& target, std::uint32_t first, std::uint32_t rows) const noexcept {
    if (coverage_ != nullptr) { coverage_->add(part.id.plane, target.first_row + first, rows, target.columns); }
  }

  // The row of the block that is the source of a row of the result.
  [[nodiscard]] std::uint32_t row_in_block(BlockPart const& part, std::uint32_t result_row) const noexcept;
  // Prepares place_row() for a resampled result.
  void find_columns(BlockPart const& part, Target const& target);
  void place_row(BlockPart const& part, Target const& target, std::uint32_t row, std::byte const* finished_row);
  // The first pixel of the part in a row of its block that begins at `row`.
  [[nodiscard]] std::byte const* first_pixel(BlockPart const& part, std::byte const* row) const noexcept;

  ReadPlan::Impl const& plan_;
  HostView const& destination_;
  MemoryBudget& budget_;
  ResultCoverage* coverage_;
  RowLayout layout_;
  ThreadScratch& scratch_;
  Placer placer_;
  std::vector<std::uint32_t> columns_;  // columns of the block, one for each column of the result
  std::vector<std::byte> gathered_;  // the pixels of those columns, for one row
  MemoryBudget::Reservation gathering_{};  // memory of columns_ and gathered_
};

}  // namespace terrazzo::reading
