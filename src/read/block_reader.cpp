// SPDX-License-Identifier: Apache-2.0
#include "read/block_reader.hpp"

#include "base/saturating.hpp"
#include "codec/jpeg_planes.hpp"
#include "read/colour_model.hpp"
#include "tiff/block_padding.hpp"
#include "tile/bit_reverse.hpp"
#include "tile/predictor.hpp"
#include "tile/prefetch.hpp"
#include "tile/stream_copy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

// Tiles of a COG lie eight bytes apart (trailer and leader), others next to one another: reading through a gap this
// small costs less than a second read.
constexpr std::uint64_t kMergeGapBytes = 4096;

// A thread keeps its buffers for the next read unless they are larger than this.
constexpr std::size_t kKeepBytes = 4u << 20;

TileResult problem(TileStatus status, char const* reason) { return {.status = status, .reason = reason}; }

codec::BlockFormat block_format(tiff::Image const& image) {
  codec::BlockFormat format;
  format.compression = image.compression;
  format.samples_per_pixel = image.samples_per_block();
  format.bits_per_sample = image.bits;
  format.sample_format = image.sample_format;
  format.photometric = image.photometric;
  format.extra_samples = image.separate_planes ? 0 : static_cast<std::uint32_t>(image.extra_samples.size());
  format.last_sample_is_alpha =
      format.extra_samples > 0 && (image.extra_samples.back() == 1 || image.extra_samples.back() == 2);
  format.byte_order = image.byte_order;
  format.jpeg_tables = image.jpeg_tables;
  format.lerc_additional_compression = image.lerc_additional_compression;
  return format;
}

codec::OutputOrder decoded_order(DecodeMethod const& method) {
  return method.codec != nullptr                  ? method.codec->output_order
         : method.kind == DecodeMethod::Kind::raw ? codec::OutputOrder::stored
                                                  : codec::OutputOrder::native;
}

// JPEG streams know their own bit order; libtiff leaves them alone too.
bool ignores_fill_order(tiff::Compression compression) {
  return compression == tiff::Compression::jpeg || compression == tiff::Compression::jpeg2000 ||
         compression == tiff::Compression::aperio_jp2_ycbcr || compression == tiff::Compression::aperio_jp2_rgb;
}

}  // namespace

void ThreadScratch::trim() noexcept {
  for (Scratch* s : {&compressed, &decoded, &converted, &row}) { s->trim(kKeepBytes); }
}

ThreadScratch& thread_scratch() {
  thread_local ThreadScratch scratch;
  return scratch;
}

BlockReader::BlockReader(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch)
    : level_(level),
      method_(method),
      budget_(budget),
      scratch_(scratch),
      codec_memory_(scratch.workspace, budget),
      finisher_(level.image, decoded_order(method)),
      format_(block_format(level.image)) {
  bool const rgb = level.image.is_converted_to_rgb() || method.kind == DecodeMethod::Kind::libtiff_rgba;
  samples_ = rgb ? level.bands : level.image.samples_per_block();
  pixel_bytes_ = samples_ * size_bytes(level.dtype);
  row_bytes_ = pixel_bytes_ * level.image.block_width_px;
  if (method.kind != DecodeMethod::Kind::raw) {
    std::uint64_t const planes = rgb ? level.image.planes() : 1;
    std::uint64_t bytes = level.image.block_bytes(level.image.block_height_px) * planes;
    if (rgb) { bytes += std::uint64_t{4} * level.image.block_width_px * level.image.block_height_px; }
    decoded_reservation_.grow(budget_, bytes + row_bytes_ + codec_scratch_bytes(level, method));
  }
}

void BlockReader::Growing::grow(MemoryBudget& budget, std::uint64_t wanted) {
  if (wanted <= bytes) { return; }
  held = {};
  bytes = 0;
  held = budget.reserve(wanted, what);
  bytes = wanted;
}

bool BlockReader::uses_libtiff() const noexcept {
  return method_.kind == DecodeMethod::Kind::libtiff || method_.kind == DecodeMethod::Kind::libtiff_rgba;
}

bool BlockReader::stored_is_finished() const noexcept {
  return method_.kind == DecodeMethod::Kind::raw && finisher_.is_copy() && !level_.image.reversed_bits;
}

std::span<std::byte> BlockReader::compressed_buffer(std::size_t bytes) {
  compressed_reservation_.grow(budget_, bytes);
  return scratch_.compressed.get(bytes);
}

void BlockReader::fetch(std::span<std::uint64_t const> blocks) {
  tile::TileBatch& batch = scratch_.batch;
  batch.items.clear();
  scratch_.ranges.clear();
  std::span<std::byte const> const memory = level_.source->in_memory();
  std::uint64_t const source_bytes = level_.source->size_bytes();

  // Places every block in one buffer; `run_end` is where the last range ends in the source.
  struct Run {
    std::uint64_t source_offset, buffer_offset, bytes;
  };
  std::vector<Run> runs;
  std::uint64_t buffer_bytes = 0;
  for (std::uint64_t const block : blocks) {
    tile::BatchItem item{.tile = block};
    tiff::BlockRange const range = level_.index.range(block);
    if (range.size_bytes == 0) {
      item.status = TileStatus::sparse;
    } else if (range.offset_bytes >= source_bytes) {
      item.status = TileStatus::truncated;
      item.reason = "the block lies outside the file";
    } else {
      std::uint64_t const bytes = std::min(range.size_bytes, source_bytes - range.offset_bytes);
      item.size_bytes = static_cast<std::size_t>(bytes);
      if (!memory.empty() || uses_libtiff()) {
        item.offset_bytes = static_cast<std::size_t>(range.offset_bytes);
      } else {
        std::uint64_t const run_end = runs.empty() ? 0 : runs.back().source_offset + runs.back().bytes;
        bool const merge =
            !runs.empty() && range.offset_bytes >= run_end && range.offset_bytes - run_end <= kMergeGapBytes;
        if (merge) {
          std::uint64_t const grow = range.offset_bytes - run_end + bytes;
          item.offset_bytes = static_cast<std::size_t>(buffer_bytes + range.offset_bytes - run_end);
          runs.back().bytes += grow;
          buffer_bytes += grow;
        } else {
          item.offset_bytes = static_cast<std::size_t>(buffer_bytes);
          runs.push_back({range.offset_bytes, buffer_bytes, bytes});
          buffer_bytes += bytes;
        }
      }
    }
    batch.items.push_back(item);
  }
  if (!memory.empty() || uses_libtiff()) {
    batch.buffer = memory;
    return;
  }
  std::span<std::byte> const buffer = compressed_buffer(static_cast<std::size_t>(buffer_bytes));
  for (Run const& run : runs) {
    scratch_.ranges.push_back({run.source_offset, buffer.subspan(static_cast<std::size_t>(run.buffer_offset),
                                                                 static_cast<std::size_t>(run.bytes))});
  }
  level_.source->submit(scratch_.ranges).wait();
  bytes_read_ += buffer_bytes;
  batch.buffer = buffer;
}

std::span<std::byte const> BlockReader::unreversed(std::span<std::byte const> bytes) {
  if (!level_.image.reversed_bits || ignores_fill_order(level_.image.compression)) { return bytes; }
  reversed_reservation_.grow(budget_, bytes.size());
  // The row buffer is free while a block is decoded.
  std::span<std::byte> const copy = scratch_.row.get(bytes.size());
  tile::reverse_bits(bytes, copy);
  return copy;
}

std::uint32_t BlockReader::rows_of(tile::BatchItem const& item) const noexcept {
  tiff::Image const& image = level_.image;
  return image.block_rows(static_cast<std::uint32_t>(item.tile % image.blocks_per_plane() / image.blocks_across));
}

// Bytes of the decoded block that its pixels inside the image are made of. The floating-point predictor spreads a pixel
// over its whole row; others sum from the left.
std::uint64_t BlockReader::needed_bytes(std::uint64_t block) const noexcept {
  tiff::Image const& image = level_.image;
  std::uint64_t const in_plane = block % image.blocks_per_plane();
  auto const row = static_cast<std::uint32_t>(in_plane / image.blocks_across);
  if (effective_predictor(image) == tiff::Predictor::floating_point) {
    return image.row_bytes() * tiff::used_rows(image, row);
  }
  return tiff::used_bytes(image, row, static_cast<std::uint32_t>(in_plane % image.blocks_across));
}

// A stream that ends inside the padding of its tile has every pixel, and GDAL and libtiff read it.
TileResult BlockReader::without_padding(std::uint64_t block, TileResult const& result,
                                        std::span<std::byte> out) const noexcept {
  if (result.status != TileStatus::truncated || result.bytes_written < needed_bytes(block)) { return result; }
  std::ranges::fill(out.subspan(std::min(out.size(), result.bytes_written)), std::byte{0});
  return {.bytes_written = out.size()};
}

codec::TwoBlocks BlockReader::decode_two(tile::BatchItem const& first, tile::BatchItem const& second) {
  using codec::TwoBlocks;
  tiff::Image const& image = level_.image;
  if (method_.codec == nullptr || method_.codec->decode_two == nullptr) { return TwoBlocks::unsuited; }
  if (image.is_converted_to_rgb() || image.reversed_bits) { return TwoBlocks::unsuited; }
  if (first.status != TileStatus::ok || second.status != TileStatus::ok) { return TwoBlocks::unsuited; }
  if (!second_reservation_) { second_reservation_ = budget_.try_reserve(image.block_bytes(image.block_height_px)); }
  if (!second_reservation_) { return TwoBlocks::unsuited; }
  auto const first_bytes = static_cast<std::size_t>(image.block_bytes(rows_of(first)));
  auto const second_bytes = static_cast<std::size_t>(image.block_bytes(rows_of(second)));
  std::span<std::byte> const out = scratch_.decoded.get(first_bytes + second_bytes);
  TwoBlocks const result =
      method_.codec->decode_two({scratch_.batch.bytes_of(first), scratch_.batch.bytes_of(second)},
                                {out.first(first_bytes), out.last(second_bytes)}, scratch_.workspace);
  if (result != TwoBlocks::done) { return result; }
  planes_.reset();
  decoded_row_stride_ = finisher_.decoded_row_bytes();
  rows_are_finished_ = false;
  rows_ = out.data();
  second_rows_ = out.data() + first_bytes;
  return result;
}

TileResult BlockReader::decode(tile::BatchItem const& item, Form form) {
  planes_.reset();
  if (item.status != TileStatus::ok) { return problem(item.status, item.reason); }
  tiff::Image const& image = level_.image;
  std::uint32_t const rows = rows_of(item);
  decoded_row_stride_ = finisher_.decoded_row_bytes();
  rows_are_finished_ = false;

  if (method_.kind != DecodeMethod::Kind::codec) {
    bool const rgba = method_.kind == DecodeMethod::Kind::libtiff_rgba;
    std::size_t const bytes =
        rgba ? std::size_t{4} * image.block_width_px * rows : static_cast<std::size_t>(image.block_bytes(rows));
    std::span<std::byte> const out = scratch_.decoded.get(bytes);
    rows_ = out.data();
    TileResult const result = decode_with_libtiff(item, rows, out);
    if (rgba && samples_ == 3) { drop_alpha(out); }
    if (rgba) {
      rows_are_finished_ = true;
      decoded_row_stride_ = row_bytes_;
    }
    return result;
  }
  if (image.is_converted_to_rgb()) {
    TileResult const result = decode_planes(item.tile, rows);
    return result.status == TileStatus::ok ? convert_colours(rows) : result;
  }
  std::span<std::byte> const out = scratch_.decoded.get(static_cast<std::size_t>(image.block_bytes(rows)));
  rows_ = out.data();
  codec::BlockShape const shape{image.block_width_px, rows};
  std::span<std::byte const> const bytes = unreversed(scratch_.batch.bytes_of(item));
  bool const is_jpeg = image.compression == tiff::Compression::jpeg;
  if (is_jpeg && form == Form::rows_or_planes && tile::has_fast_jpeg_rows(shape.width_px)) {
    planes_ = codec::decode_jpeg_planes(format_, shape, bytes, out, scratch_.workspace);
    if (planes_) { return {.bytes_written = out.size()}; }
  }
  return without_padding(item.tile, method_.codec->decode(format_, shape, bytes, out, scratch_.workspace), out);
}

// Every plane of the block, one after the other: a colour needs them all. One plane when samples are contiguous.
TileResult BlockReader::decode_planes(std::uint64_t block, std::uint32_t rows) {
  tiff::Image const& image = level_.image;
  std::uint64_t const in_plane = block % image.blocks_per_plane();
  auto const plane_bytes = static_cast<std::size_t>(image.block_bytes(rows));
  std::span<std::byte> const out = scratch_.decoded.get(plane_bytes * image.planes());
  rows_ = out.data();
  for (std::uint32_t plane = 0; plane < image.planes(); ++plane) {
    std::uint64_t const number = in_plane + plane * image.blocks_per_plane();
    if (image.planes() > 1) { fetch({&number, 1}); }
    auto const item = std::ranges::find(scratch_.batch.items, number, &tile::BatchItem::tile);
    if (item->status != TileStatus::ok) { return problem(item->status, item->reason); }
    std::span<std::byte> const of_plane = out.subspan(plane * plane_bytes, plane_bytes);
    TileResult const result =
        without_padding(number,
                        method_.codec->decode(format_, {image.block_width_px, rows},
                                              unreversed(scratch_.batch.bytes_of(*item)), of_plane, scratch_.workspace),
                        of_plane);
    if (result.status != TileStatus::ok) { return result; }
  }
  // Colours are made of samples, so the predictor goes first; samples have 8 bits here.
  if (effective_predictor(image) == tiff::Predictor::horizontal && !image.has_packed_chroma()) {
    std::size_t const row_bytes = finisher_.decoded_row_bytes();
    for (std::size_t at = 0; at < out.size(); at += row_bytes) {
      tile::undo_horizontal_row(out.data() + at, image.block_width_px, image.samples_per_block(), 8);
    }
  }
  return {};
}

TileResult BlockReader::convert_colours(std::uint32_t rows) {
  std::span<std::byte> const out = scratch_.converted.get(row_bytes_ * rows);
  auto const decoded_bytes = static_cast<std::size_t>(level_.image.block_bytes(rows)) * level_.image.planes();
  TileResult const result = convert_block_to_rgb(level_.image, rows, {rows_, decoded_bytes}, out);
  rows_ = out.data();
  rows_are_finished_ = true;
  decoded_row_stride_ = row_bytes_;
  return result;
}

TileResult BlockReader::decode_with_libtiff(tile::BatchItem const& item, std::uint32_t rows, std::span<std::byte> out) {
  tiff::Image const& image = level_.image;
  std::uint64_t const block = item.tile;
  compressed_reservation_.grow(budget_, item.size_bytes);  // libtiff's own buffer for them
  if (!libtiff_) {
    ByteSourcePtr const source = level_.source;
    auto const read_at = [this, source](std::uint64_t offset_bytes, std::span<std::byte> target) -> std::size_t {
      if (offset_bytes >= source->size_bytes()) { return 0; }
      auto const count =
          static_cast<std::size_t>(std::min<std::uint64_t>(target.size(), source->size_bytes() - offset_bytes));
      try {
        source->read(offset_bytes, target.first(count));
      } catch (...) {
        source_failure_ = std::current_exception();  // libtiff is C: the exception waits until it has returned
        throw;
      }
      return count;
    };
    libtiff_.emplace(read_at, source->size_bytes(), image.ifd_offset_bytes, source->name());
  }
  if (block > std::numeric_limits<std::uint32_t>::max()) {
    return problem(TileStatus::unsupported, "too many blocks for libtiff");
  }
  // The block's bytes; what libtiff reads of the directory, once a thread, is not counted.
  if (level_.source->in_memory().empty()) { bytes_read_ += item.size_bytes; }
  TileResult result;
  if (method_.kind == DecodeMethod::Kind::libtiff) {
    // As GDAL asks for them: rows below the image need not be there.
    auto const row = static_cast<std::uint32_t>(block % image.blocks_per_plane() / image.blocks_across);
    auto const wanted = static_cast<std::size_t>(image.block_bytes(std::min(rows, tiff::used_rows(image, row))));
    std::ranges::fill(out.subspan(wanted), std::byte{0});
    result = libtiff_->decode_block(static_cast<std::uint32_t>(block), out.first(wanted));
  } else {
    auto const column = static_cast<std::uint32_t>(block % image.blocks_across);
    auto const row = static_cast<std::uint32_t>(block % image.blocks_per_plane() / image.blocks_across);
    result = libtiff_->decode_rgba_block(column * image.block_width_px, row * image.block_height_px,
                                         {image.block_width_px, rows}, out);
  }
  // A source that fails is no bad block.
  if (source_failure_) { std::rethrow_exception(std::exchange(source_failure_, nullptr)); }
  return result;
}

// Of a row, up to the last pixel inside the image.
std::uint64_t BlockReader::used_row_bytes(std::uint64_t block) const noexcept {
  tiff::Image const& image = level_.image;
  auto const column = static_cast<std::uint32_t>(block % image.blocks_per_plane() % image.blocks_across);
  return tiff::used_bytes(image, 0, column) - image.row_bytes() * (tiff::used_rows(image, 0) - 1);
}

BlockReader::FoundRows BlockReader::look_up(std::uint64_t block, tiff::BlockRange const& range,
                                            RowPiece const& piece) const noexcept {
  if (range.size_bytes == 0) { return {0, problem(TileStatus::sparse, nullptr)}; }
  tiff::Image const& image = level_.image;
  std::uint64_t const stride = std::max<std::uint64_t>(1, finisher_.decoded_row_bytes());
  std::uint64_t const in_file = level_.source->size_bytes() - std::min(level_.source->size_bytes(), range.offset_bytes);
  std::uint64_t const good_bytes = std::min(range.size_bytes, in_file);
  std::uint64_t const padding = stride - std::min(stride, used_row_bytes(block));
  std::uint64_t const good_rows = (good_bytes + padding) / stride;
  // Of a good block too, what follows the last row that is wanted may be missing.
  auto const readable = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(piece.rows, good_rows - std::min<std::uint64_t>(good_rows, piece.first_row)));
  if (good_rows >= piece.end_row) {
    auto const block_row = static_cast<std::uint32_t>(block % image.blocks_per_plane() / image.blocks_across);
    bool const surplus = range.size_bytes > image.block_bytes(image.block_rows(block_row));
    return {readable, {.bytes_written = static_cast<std::size_t>(piece.end_row * stride), .surplus_input = surplus}};
  }
  TileResult result = problem(TileStatus::truncated, saturating_sum(range.size_bytes, padding) / stride < piece.end_row
                                                         ? "the block is shorter than its pixels"
                                                         : "the block reaches past the end of the file");
  result.bytes_written = static_cast<std::size_t>(good_rows * stride);
  return {readable, result};
}

void BlockReader::find_rows(std::uint64_t first_block, RowPiece const& piece, std::span<TileResult> results) {
  std::size_t const stride = finisher_.decoded_row_bytes();
  side_by_side_stride_ = stride * piece.rows;
  decoded_row_stride_ = stride;
  found_.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    tiff::BlockRange const range = level_.index.range(first_block + i);
    FoundRows const found = look_up(first_block + i, range, piece);
    results[i] = found.result;
    if (found.readable == 0) { continue; }
    // The last row's padding need not be there.
    std::uint64_t const offset = range.offset_bytes + std::uint64_t{piece.first_row} * stride;
    std::uint64_t const end =
        range.offset_bytes + std::min(range.size_bytes, level_.source->size_bytes() - range.offset_bytes);
    found_.push_back({.offset_bytes = offset,
                      .into = i * side_by_side_stride_,
                      .bytes = static_cast<std::size_t>(std::min<std::uint64_t>(stride * found.readable, end - offset)),
                      .room = stride * found.readable});
  }
}

void BlockReader::read_found_rows() {
  if (found_.empty()) { return; }
  std::size_t const bytes = found_.back().into + found_.back().room;
  decoded_reservation_.grow(budget_, bytes + row_bytes_);
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
  turn_to_block(0);
}

TileResult BlockReader::read_rows(std::uint64_t block, std::uint32_t first_row, std::uint32_t rows) {
  TileResult result;
  find_rows(block, {first_row, rows, first_row + rows}, {&result, 1});
  read_found_rows();
  return result;
}

TileResult BlockReader::read_rows_into(std::uint64_t block, RowPiece const& piece, std::size_t skip_bytes,
                                       std::size_t bytes, std::byte* out, std::ptrdiff_t stride_bytes) {
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

std::byte const* BlockReader::finished_row(std::uint32_t row, std::byte* out) noexcept {
  if (rows_are_finished_ || finisher_.is_copy()) { return rows_ + std::size_t{row} * decoded_row_stride_; }
  finish_row(row, out);
  return out;
}

void BlockReader::stream_rows(std::uint32_t first_row, std::uint32_t rows, std::byte* out,
                              std::ptrdiff_t stride_bytes) {
  std::byte* const decoded = rows_ + std::size_t{first_row} * decoded_row_stride_;
  if (rows_are_finished_) {
    tile::copy_rows_streaming(
        out, stride_bytes,
        {.first = decoded, .stride_bytes = decoded_row_stride_, .row_bytes = row_bytes_, .rows = rows});
  } else {
    // `row` is free by now: only decoding used it.
    finisher_.stream(decoded, rows, scratch_.row.get(row_bytes_).data(), out, stride_bytes);
  }
}

void BlockReader::stream_side_by_side(std::size_t blocks, std::uint32_t rows, std::byte* out,
                                      std::ptrdiff_t stride_bytes) const noexcept {
  tile::copy_rows_streaming(out, stride_bytes,
                            {.first = rows_,
                             .stride_bytes = decoded_row_stride_,
                             .row_bytes = row_bytes_,
                             .rows = rows,
                             .blocks = blocks,
                             .block_stride_bytes = side_by_side_stride_});
}

void BlockReader::make_plane_row(std::uint32_t row, std::size_t count, std::span<std::byte* const> out) const noexcept {
  tile::make_rgb_row(*planes_, row, count, {out[0], out[1], out[2]});
}

void BlockReader::prefetch_row(std::uint32_t row) const noexcept {
  constexpr std::size_t kMostBytes = 4096;  // two rows and what becomes of them are to lie in the first cache
  if (decoded_row_stride_ > kMostBytes) { return; }
  tile::prefetch(rows_ + std::size_t{row} * decoded_row_stride_, decoded_row_stride_);
}

void BlockReader::finish_row(std::uint32_t row, std::byte* out) noexcept {
  std::byte* const decoded = rows_ + std::size_t{row} * decoded_row_stride_;
  if (rows_are_finished_) {
    std::memcpy(out, decoded, row_bytes_);
  } else {
    finisher_.finish(decoded, out);
  }
}

}  // namespace terrazzo::reading
