// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/decode.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/blocks.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>

namespace terrazzo::ops {

namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 30;

// Enough for a whole row of tiles, so that each tile is decoded and counted once; a larger row is read in parts.
std::uint64_t block_bytes(reading::Level const& level) {
  double const tile_row = static_cast<double>(level.image.width_px) * level.image.block_height_px * level.bands *
                          static_cast<double>(size_bytes(level.dtype));
  return std::max(kBlockBytes, static_cast<std::uint64_t>(std::min(tile_row, double{kMaxBlockBytes})));
}

// True if the file stores any tile of these rows. Rows of fill need no check, and a small file may declare billions of
// them.
bool has_tiles(reading::Level const& level, Window const& rows) {
  tiff::Image const& image = level.image;
  std::uint64_t const file_bytes = level.source->size_bytes();
  std::uint64_t const first = std::uint64_t{rows.row / image.block_height_px} * image.blocks_across;
  std::uint64_t const last =
      (std::uint64_t{(rows.row + rows.height - 1) / image.block_height_px} + 1) * image.blocks_across;
  for (std::uint32_t plane = 0; plane < image.planes(); ++plane) {
    for (std::uint64_t block = first; block < last; ++block) {
      tiff::BlockRange const range = level.index.range(plane * image.blocks_per_plane() + block);
      if (range.size_bytes != 0 && range_fits(range.offset_bytes, range.size_bytes, file_bytes)) { return true; }
    }
  }
  return level.mask != nullptr && has_tiles(*level.mask, rows);
}

void tell_bad_tiles(reading::Level const& level, std::uint32_t number, ReadReport const& report, Findings& findings) {
  for (BadTileReport const& bad : report.bad_tiles) {
    findings.add(Rule::tile_undecodable, {.ifd = level.image.ifd, .tile = bad.tile}, [&] {
      return text("tile (", bad.tile.column, ", ", bad.tile.row, ") of ",
                  number == 0 ? std::string("full resolution") : text("overview ", number), ": ", bad.message);
    });
  }
}

void check_level(Dataset const& dataset, std::uint32_t number, ValidateOptions const& options, Progress const& progress,
                 Findings& findings) {
  reading::Level const& level = *dataset.shared_impl()->levels[number];
  ReadRequest request;
  request.level = number;
  request.bad_tile = BadTile::fill;
  request.threads = options.threads;
  request.memory_limit_bytes = options.memory_limit_bytes;
  request.engine = Engine::host;  // reports exact defects of tiles, and is available on every machine
  request.progress = progress;
  request.cancel = options.cancel;
  // A mask is read with the pixels, in their own type: the values are ignored. If only an overview has a mask, no read
  // uses it, so it is skipped.
  request.masked = level.mask != nullptr && dataset.shared_impl()->levels[0]->mask != nullptr;
  if (request.masked) { request.dtype = dataset.info().dtype(); }
  RowBlocks const blocks(dataset, request, block_bytes(level));
  std::optional<HostArray> buffer;
  std::uint64_t surplus = 0;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    if (options.cancel != nullptr && *options.cancel) {
      throw Error(ErrorKind::cancelled, "the validation was cancelled");
    }
    if (!has_tiles(level, blocks.window(i))) { continue; }
    ReadReport report;
    blocks.read(i, buffer, &report);
    tell_bad_tiles(level, number, report, findings);
    surplus += report.surplus_tiles;
  }
  if (surplus > 0) {
    findings.add(Rule::tile_surplus, {.ifd = level.image.ifd},
                 [&] { return text(surplus, " tiles have data after their last pixel; readers ignore them"); });
  }
}

}  // namespace

void check_pixels(Dataset const& dataset, ValidateOptions const& options, Progress const& progress,
                  Findings& findings) {
  auto const& levels = dataset.shared_impl()->levels;
  for (std::uint32_t number = 0; number < levels.size(); ++number) {
    try {
      check_level(dataset, number, options, progress, findings);
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::malformed) { throw; }
      Rule const rule = error.kind() == ErrorKind::malformed ? Rule::tile_undecodable : Rule::codec_unavailable;
      findings.add(rule, {.ifd = levels[number]->image.ifd}, [&] { return error.message(); });
    }
  }
}

}  // namespace terrazzo::ops
