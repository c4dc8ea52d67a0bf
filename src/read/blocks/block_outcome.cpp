// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/block_outcome.hpp"

#include "base/text.hpp"
#include "tiff/image.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileStatus;

Error error_of(Level const& level, TileId const& id, ErrorKind kind, std::string message) {
  tiff::Image const& image = level.image;
  std::uint64_t const block = image.block_number(id);
  return Error(
      kind, std::move(message),
      {.source = level.source->name(), .ifd = image.ifd, .tile = id, .offset = level.index.range(block).offset_bytes});
}

}  // namespace

ErrorKind kind_of(tile::TileResult const& result) noexcept {
  switch (result.status) {
    case TileStatus::unsupported: return ErrorKind::unsupported;
    case TileStatus::out_of_memory: return ErrorKind::limit;
    default: return ErrorKind::malformed;
  }
}

BlockOutcome judge_block(Level const& level, TileId const& id, tile::TileResult const& result,
                         ReadRequest const& request) {
  tiff::Image const& image = level.image;
  std::uint32_t const rows = image.block_rows(id.row);
  if (result.status == TileStatus::sparse) { return {}; }
  if (result.status == TileStatus::ok) {
    BlockOutcome outcome{.good_rows = rows};
    if (result.surplus_input && request.strict) {
      outcome.error = error_of(level, id, ErrorKind::malformed, "the block holds more data than its pixels");
    }
    return outcome;
  }
  std::string message = text(tiff::compression_name(image.compression), ": ",
                             result.reason == nullptr ? "the block cannot be decoded" : result.reason);
  // A memory limit is set by the caller and is no defect of the tile: report the error instead of filling the tile.
  ErrorKind const kind = kind_of(result);
  if (request.bad_tile == BadTile::error || kind == ErrorKind::limit) {
    return {.error = error_of(level, id, kind, std::move(message))};
  }
  BlockOutcome outcome;
  if (result.status == TileStatus::truncated && !image.is_converted_to_rgb()) {
    std::uint64_t const row_bytes = std::max<std::uint64_t>(1, image.row_bytes());
    outcome.good_rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, result.bytes_written / row_bytes));
  }
  outcome.bad = BadTileReport{id, kind, std::move(message), level.source->name()};
  return outcome;
}

}  // namespace terrazzo::reading
