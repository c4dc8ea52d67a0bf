// SPDX-License-Identifier: Apache-2.0
//
// Rows of uncompressed blocks of one level, for one thread. Any row of such a block can be read independently.
#pragma once

#include "base/memory_budget.hpp"
#include "read/blocks/decoded_rows.hpp"
#include "read/blocks/growing_reservation.hpp"
#include "read/blocks/row_finisher.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/open/level.hpp"
#include "read/plan/decode_method.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

class RawRows {
 public:
  // All arguments outlive the object. REQUIRES: the method is raw.
  RawRows(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch);
  RawRows(RawRows const&) = delete;
  RawRows& operator=(RawRows const&) = delete;

  [[nodiscard]] RowLayout const& layout() const noexcept { return layout_; }
  // True if stored bytes equal finished bytes: then they can be read straight into the result.
  [[nodiscard]] bool are_finished() const noexcept { return finisher_.is_copy() && !level_.image.reversed_bits; }

  // Rows of a block. The read takes rows of the block up to `end_row`, piece by piece.
  struct Piece {
    std::uint32_t first_row, rows, end_row;
  };
  // Computes, from the index alone, the result of reading `piece` from neighbouring blocks, numbered from `first_block`
  // on. A block too short for `end_row` is truncated for each of its pieces; `bytes_written` is the number of valid
  // bytes from the block's first row on.
  void find(std::uint64_t first_block, Piece const& piece, std::span<tile::TileResult> results);
  // Reads the rows of the piece that the file contains, including the complete rows of truncated blocks.
  void read_found();
  // The rows read from one of the blocks, counted from the first row of the piece.
  [[nodiscard]] DecodedRows rows_of(std::size_t place) const noexcept {
    return {side_by_side_.data() + place * side_by_side_stride_, finisher_};
  }
  // Writes rows of `blocks` blocks from `place` on, which are neighbours in the result, with stores that bypass the
  // caches: row i goes to `out` + i * stride_bytes. REQUIRES: are_finished(), and all rows were read. The caller issues
  // a fence afterwards.
  void stream_side_by_side(std::size_t place, std::size_t blocks, std::uint32_t rows, std::byte* out,
                           std::ptrdiff_t stride_bytes) const noexcept;

  // find() and read_found() for all requested rows of one block.
  [[nodiscard]] DecodedBlock read(std::uint64_t block, std::uint32_t first_row, std::uint32_t rows);
  // Reads `bytes` of each row of the piece straight to `out` + i * stride. REQUIRES: are_finished().
  [[nodiscard]] tile::TileResult read_into(std::uint64_t block, Piece const& piece, std::size_t skip_bytes,
                                           std::size_t bytes, std::byte* out, std::ptrdiff_t stride_bytes);

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  struct FoundRows {
    std::uint32_t readable;  // rows of the piece
    tile::TileResult result;  // result of the block, once the rows are read
  };
  struct Found {
    std::uint64_t offset_bytes;  // offset in the file
    std::size_t into, bytes;  // range of side_by_side_
    std::size_t room;  // capacity there: more than `bytes` if the file ends inside the padding of a row
  };
  [[nodiscard]] FoundRows look_up(std::uint64_t block, tiff::BlockRange const& range,
                                  Piece const& piece) const noexcept;
  [[nodiscard]] std::uint64_t used_row_bytes(std::uint64_t block) const noexcept;

  Level const& level_;
  ThreadScratch& scratch_;
  RowFinisher finisher_;
  RowLayout layout_;
  GrowingReservation reservation_;
  std::vector<Found> found_{};
  std::span<std::byte> side_by_side_{};  // rows of several blocks, side_by_side_stride_ apart
  std::size_t side_by_side_stride_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace terrazzo::reading
