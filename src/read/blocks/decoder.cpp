// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/decoder.hpp"

#include "read/blocks/color_model.hpp"
#include "read/blocks/fetcher.hpp"
#include "tiff/block_padding.hpp"
#include "tile/bit_reverse.hpp"
#include "tile/undo_predictor.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

TileResult problem(tile::BatchItem const& item) { return {.status = item.status, .reason = item.reason}; }

codec::OutputOrder decoded_order(DecodeMethod const& method) {
  return method.codec != nullptr ? method.codec->output_order : codec::OutputOrder::native;
}

}  // namespace

BlockDecoder::BlockDecoder(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch)
    : level_(level),
      method_(method),
      budget_(budget),
      scratch_(scratch),
      codec_memory_(scratch.workspace, budget),
      finisher_(level.image, decoded_order(method)),
      layout_(finished_layout(level, method)),
      format_(block_format(level.image)),
      items_per_block_(items_per_block(level, method)),
      decoded_reservation_(budget, "a decoded block"),
      reversed_reservation_(budget, "a block with its bits reversed"),
      at_once_(method.codec != nullptr ? method.codec->blocks_at_once : 1),
      decoded_(at_once_.size()) {
  if (method.uses_libtiff()) { libtiff_.emplace(level, method, budget); }
  bool const rgb = level.image.is_converted_to_rgb() || method.kind == DecodeMethod::Kind::libtiff_rgba;
  std::uint64_t const planes = rgb ? level.image.planes() : 1;
  std::uint64_t bytes = level.image.block_bytes(level.image.block_height_px) * planes;
  if (rgb) { bytes += std::uint64_t{4} * level.image.block_width_px * level.image.block_height_px; }
  decoded_reservation_.grow(bytes + layout_.row_bytes + codec_scratch_bytes(level, method));
}

std::span<DecodedBlock const> BlockDecoder::decode(tile::TileBatch const& batch, std::size_t first, std::size_t most,
                                                   Form form) {
  Items const items = Items(batch.items).subspan(first * items_per_block_);
  std::size_t const count = count_at_once(items, most);
  if (count > 1) {
    decode_several(batch, items.first(count));
  } else {
    decoded_.front() = decode_one(batch, items.first(items_per_block_), form);
  }
  return {decoded_.data(), count};
}

// If memory for several blocks is short, decode one block at a time instead of failing.
std::size_t BlockDecoder::count_at_once(Items items, std::size_t most) {
  tiff::Image const& image = level_.image;
  std::size_t const count = std::min({most, items.size(), at_once_.size()});
  if (count < 2 || image.is_converted_to_rgb() || image.reversed_bits) { return 1; }
  if (!std::ranges::all_of(items.first(count), [](auto const& item) { return item.status == TileStatus::ok; })) {
    return 1;
  }
  if (!more_blocks_) {
    more_blocks_ = budget_.try_reserve((at_once_.size() - 1) * image.block_bytes(image.block_height_px));
  }
  return more_blocks_ ? count : 1;
}

void BlockDecoder::decode_several(tile::TileBatch const& batch, Items items) {
  tiff::Image const& image = level_.image;
  std::size_t bytes = 0;
  for (tile::BatchItem const& item : items) { bytes += static_cast<std::size_t>(image.block_bytes(rows_of(item))); }
  std::span<std::byte> out = scratch_.decoded.get(bytes);
  std::span<codec::Block> const blocks = std::span(at_once_).first(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::uint32_t const rows = rows_of(items[i]);
    auto const block_bytes = static_cast<std::size_t>(image.block_bytes(rows));
    blocks[i] = {{image.block_width_px, rows}, batch.bytes_of(items[i]), out.first(block_bytes)};
    out = out.subspan(block_bytes);
  }
  method_.codec->decode(format_, blocks, scratch_.workspace);
  for (std::size_t i = 0; i < items.size(); ++i) {
    decoded_[i] = {without_padding(items[i].tile, blocks[i].result, blocks[i].out),
                   DecodedRows(blocks[i].out.data(), finisher_)};
  }
}

DecodedBlock BlockDecoder::decode_one(tile::TileBatch const& batch, Items items, Form form) {
  tiff::Image const& image = level_.image;
  tile::BatchItem const& item = items.front();
  std::uint32_t const rows = rows_of(item);
  if (items.size() > 1 || (method_.kind == DecodeMethod::Kind::codec && image.is_converted_to_rgb())) {
    return decode_colours(batch, items, rows);
  }
  if (item.status != TileStatus::ok) { return {problem(item), {}}; }
  if (libtiff_) { return decode_with_libtiff(item, rows); }
  std::span<std::byte> const out = scratch_.decoded.get(static_cast<std::size_t>(image.block_bytes(rows)));
  codec::BlockShape const shape{image.block_width_px, rows};
  std::span<std::byte const> const bytes = unreversed(batch.bytes_of(item));
  bool const may_be_planes = form == Form::rows_or_planes && method_.codec->decode_planes != nullptr;
  if (may_be_planes && tile::has_fast_jpeg_rows(shape.width_px)) {
    auto const planes = method_.codec->decode_planes(format_, shape, bytes, out, scratch_.workspace);
    if (planes) { return {{.bytes_written = out.size()}, DecodedRows(*planes)}; }
  }
  TileResult const result = method_.codec->decode_block(format_, shape, bytes, out, scratch_.workspace);
  return {without_padding(item.tile, result, out), DecodedRows(out.data(), finisher_)};
}

DecodedBlock BlockDecoder::decode_with_libtiff(tile::BatchItem const& item, std::uint32_t rows) {
  tiff::Image const& image = level_.image;
  if (method_.kind == DecodeMethod::Kind::libtiff) {
    std::span<std::byte> const out = scratch_.decoded.get(static_cast<std::size_t>(image.block_bytes(rows)));
    return {libtiff_->decode(item, rows, out), DecodedRows(out.data(), finisher_)};
  }
  std::span<std::byte> const out = scratch_.decoded.get(std::size_t{4} * image.block_width_px * rows);
  TileResult const result = libtiff_->decode(item, rows, out);
  if (layout_.samples == 3) { drop_alpha(out); }
  return {result, DecodedRows(out.data(), layout_.row_bytes)};
}

// Decodes all planes of the block one after the other, since a colour needs all of them. Contiguous samples have one
// plane.
TileResult BlockDecoder::decode_planes(tile::TileBatch const& batch, Items items, std::uint32_t rows,
                                       std::span<std::byte> out) {
  tiff::Image const& image = level_.image;
  std::size_t const plane_bytes = out.size() / items.size();
  for (std::size_t plane = 0; plane < items.size(); ++plane) {
    tile::BatchItem const& item = items[plane];
    if (item.status != TileStatus::ok) { return problem(item); }
    std::span<std::byte> const of_plane = out.subspan(plane * plane_bytes, plane_bytes);
    TileResult const result =
        without_padding(item.tile,
                        method_.codec->decode_block(format_, {image.block_width_px, rows},
                                                    unreversed(batch.bytes_of(item)), of_plane, scratch_.workspace),
                        of_plane);
    if (result.status != TileStatus::ok) { return result; }
  }
  // Undo the predictor before the colour conversion, which needs real samples. Samples have 8 bits here.
  if (effective_predictor(image) == tiff::Predictor::horizontal && !image.has_packed_chroma()) {
    std::size_t const row_bytes = finisher_.decoded_row_bytes();
    for (std::size_t at = 0; at < out.size(); at += row_bytes) {
      tile::undo_horizontal_row(out.data() + at, image.block_width_px, image.samples_per_block(), 8);
    }
  }
  return {};
}

DecodedBlock BlockDecoder::decode_colours(tile::TileBatch const& batch, Items items, std::uint32_t rows) {
  std::span<std::byte> const planes =
      scratch_.decoded.get(static_cast<std::size_t>(level_.image.block_bytes(rows)) * items.size());
  if (TileResult const result = decode_planes(batch, items, rows, planes); result.status != TileStatus::ok) {
    return {result, {}};
  }
  std::span<std::byte> const out = scratch_.converted.get(layout_.row_bytes * rows);
  return {convert_block_to_rgb(level_.image, rows, planes, out), DecodedRows(out.data(), layout_.row_bytes)};
}

std::span<std::byte const> BlockDecoder::unreversed(std::span<std::byte const> bytes) {
  if (!level_.image.reversed_bits || method_.codec->bit_order == codec::BitOrder::own) { return bytes; }
  reversed_reservation_.grow(bytes.size());
  // The row buffer is unused while a block is decoded.
  std::span<std::byte> const copy = scratch_.row.get(bytes.size());
  tile::reverse_bits(bytes, copy);
  return copy;
}

std::uint32_t BlockDecoder::rows_of(tile::BatchItem const& item) const noexcept {
  tiff::Image const& image = level_.image;
  return image.block_rows(image.tile_id(item.tile).row);
}

// The number of decoded bytes that the block's pixels inside the image depend on. The floating-point predictor spreads
// a pixel over its whole row; the other predictors sum from the left.
std::uint64_t BlockDecoder::needed_bytes(std::uint64_t block) const noexcept {
  tiff::Image const& image = level_.image;
  auto const [column, row, plane] = image.tile_id(block);
  if (effective_predictor(image) == tiff::Predictor::floating_point) {
    return image.row_bytes() * tiff::used_rows(image, row);
  }
  return tiff::used_bytes(image, row, column);
}

// A stream that ends inside the padding of its tile contains every pixel. GDAL and libtiff accept it too.
TileResult BlockDecoder::without_padding(std::uint64_t block, TileResult const& result,
                                         std::span<std::byte> out) const noexcept {
  if (result.status != TileStatus::truncated || result.bytes_written < needed_bytes(block)) { return result; }
  std::ranges::fill(out.subspan(std::min(out.size(), result.bytes_written)), std::byte{0});
  return {.bytes_written = out.size()};
}

}  // namespace terrazzo::reading
