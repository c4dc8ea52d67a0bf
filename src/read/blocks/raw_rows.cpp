// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/raw_rows.hpp"

#include "base/saturating.hpp"
#include "tiff/block_padding.hpp"
#include "tile/bit_reverse.hpp"
#include "tile/host/stream_copy.hpp"

#include <algorithm>

namespace terrazzo::reading {

using tile::TileResult;
using tile::TileStatus;

RawRows::RawRows(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch)
    : level_(level),
      scratch_(scratch),
      finisher_(level.image, codec::OutputOrder::stored),
      layout_(finished_layout(level, method)),
      reservation_(budget, "a decoded block") {}

// Bytes of a row up to the last pixel inside the image.
std::uint64_t RawRows::used_row_bytes(std::uint64_t block) const noexcept {
  tiff::Image const& image = level_.image;
  std::uint32_t const column = image.tile_id(block).column;
  return tiff::used_bytes(image, 0, column) - image.row_bytes() * (tiff::used_rows(image, 0) - 1);
}

RawRows::FoundRows RawRows::look_up(std::uint64_t block, tiff::BlockRange const& range,
                                    Piece const& piece) const noexcept {
  if (range.size_bytes == 0) { return {0, {.status = TileStatus::sparse}}; }
  tiff::Image const& image = level_.image;
  std::uint64_t const stride = std::max<std::uint64_t>(1, finisher_.decoded_row_bytes());
  std::uint64_t const in_file = level_.source->size_bytes() - std::min(level_.source->size_bytes(), range.offset_bytes);
  std::uint64_t const good_bytes = std::min(range.size_bytes, in_file);
  std::uint64_t const padding = stride - std::min(stride, used_row_bytes(block));
  std::uint64_t const good_rows = (good_bytes + padding) / stride;
  // Even a valid block may lack the bytes after the last requested row.
  auto const readable = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(piece.rows, good_rows - std::min<std::uint64_t>(good_rows, piece.first_row)));
  if (good_rows >= piece.end_row) {
    std::uint32_t const block_row = image.tile_id(block).row;
    bool const surplus = range.size_bytes > image.block_bytes(image.block_rows(block_row));
    return {readable, {.bytes_written = static_cast<std::size_t>(piece.end_row * stride), .surplus_input = surplus}};
  }
  return {readable,
          {.status = TileStatus::truncated,
           .bytes_written = static_cast<std::size_t>(good_rows * stride),
           .reason = saturating_sum(range.size_bytes, padding) / stride < piece.end_row
                         ? "the block is shorter than its pixels"
                         : "the block reaches past the end of the file"}};
}

void RawRows::find(std::uint64_t first_block, Piece const& piece, std::span<TileResult> results) {
  std::size_t const stride = finisher_.decoded_row_bytes();
  side_by_side_stride_ = stride * piece.rows;
  found_.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    tiff::BlockRange const range = level_.index.range(first_block + i);
    FoundRows const found = look_up(first_block + i, range, piece);
    results[i] = found.result;
    if (found.readable == 0) { continue; }
    // The padding of the last row may be missing from the file.
    std::uint64_t const offset = range.offset_bytes + std::uint64_t{piece.first_row} * stride;
    std::uint64_t const end =
        range.offset_bytes + std::min(range.size_bytes, level_.source->size_bytes() - range.offset_bytes);
    found_.push_back({.offset_bytes = offset,
                      .into = i * side_by_side_stride_,
                      .bytes = static_cast<std::size_t>(std::min<std::uint64_t>(stride * found.readable, end - offset)),
                      .room = stride * found.readable});
  }
}

void RawRows::read_found() {
  if (found_.empty()) { return; }
  std::size_t const bytes = found_.back().into + found_.back().room;
  reservation_.grow(bytes + layout_.row_bytes);
  side_by_side_ = scratch_.decoded.get(bytes);
  scratch_.ranges.clear();
  for (Found const& found : found_) {
    scratch_.ranges.push_back({found.offset_bytes, side_by_side_.subspan(found.into, found.bytes)});
    std::ranges::fill(side_by_side_.subspan(found.into, found.room).subspan(found.bytes), std::byte{0});
  }
  level_.source->submit(scratch_.ranges).wait();
  for (RangeRead const& range : scratch_.ranges) {
    if (level_.image.reversed_bits) { tile::reverse_bits(range.into, range.into); }
    bytes_read_ += range.into.size();
  }
}

DecodedBlock RawRows::read(std::uint64_t block, std::uint32_t first_row, std::uint32_t rows) {
  DecodedBlock read;
  find(block, {first_row, rows, first_row + rows}, {&read.result, 1});
  read_found();
  read.rows = rows_of(0);
  return read;
}

TileResult RawRows::read_into(std::uint64_t block, Piece const& piece, std::size_t skip_bytes, std::size_t bytes,
                              std::byte* out, std::ptrdiff_t stride_bytes) {
  std::size_t const stride = finisher_.decoded_row_bytes();
  tiff::BlockRange const range = level_.index.range(block);
  FoundRows const found = look_up(block, range, piece);
  if (found.readable == 0) { return found.result; }
  std::uint64_t const start = range.offset_bytes + std::uint64_t{piece.first_row} * stride + skip_bytes;
  scratch_.ranges.clear();
  bool const one_piece = bytes == stride && stride_bytes == static_cast<std::ptrdiff_t>(bytes);
  if (one_piece) {
    scratch_.ranges.push_back({start, {out, bytes * found.readable}});
  } else {
    for (std::uint32_t r = 0; r < found.readable; ++r) {
      scratch_.ranges.push_back(
          {start + std::uint64_t{r} * stride, {out + static_cast<std::ptrdiff_t>(r) * stride_bytes, bytes}});
    }
  }
  level_.source->submit(scratch_.ranges).wait();
  bytes_read_ += bytes * found.readable;
  return found.result;
}

void RawRows::stream_side_by_side(std::size_t place, std::size_t blocks, std::uint32_t rows, std::byte* out,
                                  std::ptrdiff_t stride_bytes) const noexcept {
  tile::copy_rows_streaming(out, stride_bytes,
                            {.first = side_by_side_.data() + place * side_by_side_stride_,
                             .stride_bytes = finisher_.decoded_row_bytes(),
                             .row_bytes = layout_.row_bytes,
                             .rows = rows,
                             .blocks = blocks,
                             .block_stride_bytes = side_by_side_stride_});
}

}  // namespace terrazzo::reading
