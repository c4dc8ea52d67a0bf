// SPDX-License-Identifier: Apache-2.0
//
// Fetches and decodes blocks of one level, for one thread: compressed bytes in, finished rows out.
#pragma once

#include "base/memory_budget.hpp"
#include "base/scratch.hpp"
#include "codec/codec.hpp"
#include "codec/libtiff_decoder.hpp"
#include "codec/memory_charge.hpp"
#include "read/decode_method.hpp"
#include "read/level.hpp"
#include "read/row_finisher.hpp"
#include "tile/jpeg_rows.hpp"
#include "tile/tile_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::reading {

// What a thread keeps between blocks and between reads.
struct ThreadScratch {
  Scratch compressed, decoded, converted, row;
  codec::Workspace workspace;
  std::vector<RangeRead> ranges;
  tile::TileBatch batch;

  void trim() noexcept;  // after a read: lets go of what is too large to keep
};

// The calling thread's: it lives as long as the thread, so that a thousand small reads allocate once.
[[nodiscard]] ThreadScratch& thread_scratch();

class BlockReader {
 public:
  BlockReader(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch);
  BlockReader(BlockReader const&) = delete;  // libtiff's reads come back to this object
  BlockReader& operator=(BlockReader const&) = delete;

  // Bytes of a finished row (native samples, interleaved) and of one of its pixels.
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  [[nodiscard]] std::size_t pixel_bytes() const noexcept { return pixel_bytes_; }
  [[nodiscard]] std::uint32_t samples() const noexcept { return samples_; }
  // True when stored bytes are finished bytes: then they may be read straight into the result.
  [[nodiscard]] bool stored_is_finished() const noexcept;

  // Reads the compressed bytes of several blocks in one go: one buffer, merged ranges. Fills scratch.batch; items of
  // blocks outside the file get a status, a failing source throws. libtiff reads by itself, so for its methods the
  // items are made and nothing is read.
  void fetch(std::span<std::uint64_t const> blocks);

  // What decode() leaves a block as.
  enum class Form : std::uint8_t {
    rows,            // for finish_row() and its kin
    rows_or_planes,  // the same, or for make_plane_row(), whichever is sooner done: see is_in_planes()
  };

  // Decodes one block of the batch. REQUIRES: method is not raw.
  [[nodiscard]] tile::TileResult decode(tile::BatchItem const& item, Form form = Form::rows);
  [[nodiscard]] bool is_in_planes() const noexcept { return planes_.has_value(); }
  // Two of them at once, where their codec does that faster and there is memory for both. Until turn_to_second() the
  // calls below are about the first.
  [[nodiscard]] codec::TwoBlocks decode_two(tile::BatchItem const& first, tile::BatchItem const& second);
  void turn_to_second() noexcept { rows_ = second_rows_; }

  // Rows of a raw block, of which more may be wanted piece by piece, up to `end_row`.
  struct RowPiece {
    std::uint32_t first_row, rows, end_row;
  };
  // REQUIRES of all that follow here: method is raw.
  // What will come of a piece of the blocks that lie side by side, numbered from `first_block` on: a result for each,
  // by the index alone. A block that is too short for `end_row` is truncated whichever its piece, and `bytes_written`
  // tells how far it is good, from its first row on.
  void find_rows(std::uint64_t first_block, RowPiece const& piece, std::span<tile::TileResult> results);
  // Reads what is there of it, the whole rows of blocks that are too short included. turn_to_block() says which of the
  // blocks the calls below are about.
  void read_found_rows();
  void turn_to_block(std::size_t place) noexcept { rows_ = side_by_side_.data() + place * side_by_side_stride_; }
  // Both for one block and all that is wanted of it.
  [[nodiscard]] tile::TileResult read_rows(std::uint64_t block, std::uint32_t first_row, std::uint32_t rows);
  // Raw blocks whose bytes need no work: reads `bytes` of each row of the piece straight to `out` + i * stride.
  [[nodiscard]] tile::TileResult read_rows_into(std::uint64_t block, RowPiece const& piece, std::size_t skip_bytes,
                                                std::size_t bytes, std::byte* out, std::ptrdiff_t stride_bytes);

  // Asks the caches for a row that is about to be finished.
  void prefetch_row(std::uint32_t row) const noexcept;
  // Finishes row `row` of the decoded block (counted from first_row after read_rows) into `out`, row_bytes() long.
  // Each row may be finished once.
  void finish_row(std::uint32_t row, std::byte* out) noexcept;
  // The same, without a copy where decoded rows are finished ones: then `out` is left alone.
  [[nodiscard]] std::byte const* finished_row(std::uint32_t row, std::byte* out) noexcept;
  // Rows [first_row, first_row + rows) at once, past the caches: row i goes to `out` + i * stride_bytes. A fence must
  // follow (tile/stream_copy.hpp).
  void stream_rows(std::uint32_t first_row, std::uint32_t rows, std::byte* out, std::ptrdiff_t stride_bytes);
  // The same of several blocks from the one turned to on, whose rows lie side by side in the result. REQUIRES:
  // stored_is_finished(), and the rows of all were read.
  void stream_side_by_side(std::size_t blocks, std::uint32_t rows, std::byte* out,
                           std::ptrdiff_t stride_bytes) const noexcept;

  // The first `count` pixels of a row, each sample to its plane. REQUIRES: is_in_planes().
  void make_plane_row(std::uint32_t row, std::size_t count, std::span<std::byte* const> out) const noexcept;

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  // Bytes of the budget for a buffer that only grows.
  struct Growing {
    char const* what;
    MemoryBudget::Reservation held{};
    std::uint64_t bytes = 0;
    void grow(MemoryBudget& budget, std::uint64_t wanted);
  };

  [[nodiscard]] tile::TileResult decode_with_libtiff(tile::BatchItem const& item, std::uint32_t rows,
                                                     std::span<std::byte> out);
  [[nodiscard]] tile::TileResult decode_planes(std::uint64_t block, std::uint32_t rows);
  [[nodiscard]] tile::TileResult convert_colours(std::uint32_t rows);
  [[nodiscard]] std::uint32_t rows_of(tile::BatchItem const& item) const noexcept;
  [[nodiscard]] std::uint64_t needed_bytes(std::uint64_t block) const noexcept;
  // What a decoder says of a block, or that it is good when all that its stream lacks is padding. `out` is all of it.
  [[nodiscard]] tile::TileResult without_padding(std::uint64_t block, tile::TileResult const& result,
                                                 std::span<std::byte> out) const noexcept;
  [[nodiscard]] std::uint64_t used_row_bytes(std::uint64_t block) const noexcept;
  [[nodiscard]] std::span<std::byte> compressed_buffer(std::size_t bytes);
  [[nodiscard]] std::span<std::byte const> unreversed(std::span<std::byte const> bytes);
  struct FoundRows {
    std::uint32_t readable;  // of the piece
    tile::TileResult result;  // of the block, when they have been read
  };
  [[nodiscard]] FoundRows look_up(std::uint64_t block, tiff::BlockRange const& range,
                                  RowPiece const& piece) const noexcept;
  [[nodiscard]] bool uses_libtiff() const noexcept;

  Level const& level_;
  DecodeMethod const& method_;
  MemoryBudget& budget_;
  ThreadScratch& scratch_;
  codec::MemoryCharge codec_memory_;
  RowFinisher finisher_;
  codec::BlockFormat format_;
  std::exception_ptr source_failure_{};  // of a read that libtiff asked for
  std::optional<codec::LibtiffDecoder> libtiff_;
  Growing decoded_reservation_{"a decoded block"}, compressed_reservation_{"compressed blocks"},
      reversed_reservation_{"a block with its bits reversed"};
  std::optional<MemoryBudget::Reservation> second_reservation_{};  // of as much as a decoded block
  std::byte* rows_ = nullptr;  // decoded rows, decoded_row_stride_ apart
  std::byte* second_rows_ = nullptr;  // after decode_two()
  std::size_t decoded_row_stride_ = 0;
  struct Found {
    std::uint64_t offset_bytes;  // in the file
    std::size_t into, bytes;  // of side_by_side_
    std::size_t room;  // there: more than `bytes` when the file ends inside the padding of a row
  };
  std::vector<Found> found_{};  // by find_rows()
  std::span<std::byte> side_by_side_{};  // rows of several raw blocks, side_by_side_stride_ apart
  std::size_t side_by_side_stride_ = 0;
  std::optional<tile::JpegPlanes> planes_;  // in place of rows
  bool rows_are_finished_ = false;  // colours were converted, or libtiff did it all
  std::size_t row_bytes_, pixel_bytes_;
  std::uint32_t samples_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace terrazzo::reading
