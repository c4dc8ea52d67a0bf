// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/libtiff_blocks.hpp"

#include "tiff/block_padding.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace terrazzo::reading {

using tile::TileResult;
using tile::TileStatus;

LibtiffBlocks::LibtiffBlocks(Level const& level, DecodeMethod const& method, MemoryBudget& budget)
    : level_(level), method_(method), compressed_(budget, "compressed blocks") {}

void LibtiffBlocks::open() {
  ByteSourcePtr const source = level_.source;
  auto const read_at = [this, source](std::uint64_t offset_bytes, std::span<std::byte> target) -> std::size_t {
    if (offset_bytes >= source->size_bytes()) { return 0; }
    auto const count =
        static_cast<std::size_t>(std::min<std::uint64_t>(target.size(), source->size_bytes() - offset_bytes));
    try {
      source->read(offset_bytes, target.first(count));
    } catch (...) {
      source_failure_ = std::current_exception();  // libtiff is C: rethrow the exception after it has returned
      throw;
    }
    return count;
  };
  decoder_.emplace(read_at, source->size_bytes(), level_.image.ifd_offset_bytes, source->name());
}

TileResult LibtiffBlocks::decode(tile::BatchItem const& item, std::uint32_t rows, std::span<std::byte> out) {
  compressed_.grow(item.size_bytes);
  if (!decoder_) { open(); }
  if (item.tile > std::numeric_limits<std::uint32_t>::max()) {
    return {.status = TileStatus::unsupported, .reason = "too many blocks for libtiff"};
  }
  if (level_.source->in_memory().empty()) { bytes_read_ += item.size_bytes; }
  TileResult const result = method_.kind == DecodeMethod::Kind::libtiff ? decode_samples(item.tile, rows, out)
                                                                        : decode_rgba(item.tile, rows, out);
  // A failure of the source does not make the block a bad one.
  if (source_failure_) { std::rethrow_exception(std::exchange(source_failure_, nullptr)); }
  return result;
}

// Requests samples as GDAL does: rows below the image may be missing from the file.
TileResult LibtiffBlocks::decode_samples(std::uint64_t block, std::uint32_t rows, std::span<std::byte> out) {
  tiff::Image const& image = level_.image;
  std::uint32_t const row = image.tile_id(block).row;
  auto const wanted = static_cast<std::size_t>(image.block_bytes(std::min(rows, tiff::used_rows(image, row))));
  std::ranges::fill(out.subspan(wanted), std::byte{0});
  return decoder_->decode_block(static_cast<std::uint32_t>(block), out.first(wanted));
}

TileResult LibtiffBlocks::decode_rgba(std::uint64_t block, std::uint32_t rows, std::span<std::byte> out) {
  tiff::Image const& image = level_.image;
  auto const column = static_cast<std::uint32_t>(block % image.blocks_across);
  std::uint32_t const row = image.tile_id(block).row;
  return decoder_->decode_rgba_block(column * image.block_width_px, row * image.block_height_px,
                                     {image.block_width_px, rows}, out);
}

}  // namespace terrazzo::reading
