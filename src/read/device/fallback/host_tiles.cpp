// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/host_tiles.hpp"

#include "read/blocks/decoder.hpp"
#include "read/blocks/fetcher.hpp"
#include "read/blocks/raw_rows.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/plan/decode_method.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

std::uint32_t rows_of(WorkTile const& tile) {
  tiff::Image const& image = tile.level->image;
  return image.block_rows(image.tile_id(tile.block).row);
}

}  // namespace

tile::RowFormat finished_format(Level const& level, bool trusted) {
  RowLayout const layout = finished_layout(level, choose_method(level, trusted));
  tile::RowFormat format;
  format.dtype = level.dtype;
  format.width_px = level.image.block_width_px;
  format.samples = layout.samples;
  format.sample_bytes = static_cast<std::uint32_t>(size_bytes(level.dtype));
  format.bits = format.sample_bytes * 8;
  format.decoded_row_bytes = format.finished_row_bytes = layout.row_bytes;
  return format;
}

namespace {

// A decoded tile: its rows, the size of a row, and whether the tile was stored uncompressed.
struct TileRows {
  DecodedRows rows;
  std::size_t row_bytes;
  bool raw;
};

// Decodes the tiles of each level in order and calls take(place, result, rows) for each tile.
template <class Rows, class Take>
HostTileCounts decode_each(std::span<WorkTile const> tiles, bool trusted, MemoryBudget& budget, Rows const& rows_of_raw,
                           Take const& take) {
  HostTileCounts counts;
  ThreadScratch& scratch = thread_scratch();
  auto const count_and_take = [&](std::size_t i, DecodedBlock const& block, std::size_t row_bytes, bool raw) {
    counts.surplus_tiles += block.result.surplus_input ? 1 : 0;
    take(i, block.result, TileRows{block.rows, row_bytes, raw});
  };
  std::vector<std::uint64_t> blocks;
  for (std::size_t first = 0, end = 0; first < tiles.size(); first = end) {
    Level const& level = *tiles[first].level;
    DecodeMethod const method = choose_method(level, trusted);
    for (end = first; end < tiles.size() && tiles[end].level == &level;) { ++end; }
    if (method.kind == DecodeMethod::Kind::raw) {
      RawRows raw(level, method, budget, scratch);
      for (std::size_t i = first; i < end; ++i) {
        count_and_take(i, raw.read(tiles[i].block, 0, rows_of_raw(tiles[i])), raw.layout().row_bytes, true);
      }
      counts.bytes_read += raw.bytes_read();
      continue;
    }
    BlockDecoder decoder(level, method, budget, scratch);
    BlockFetcher fetcher(level, method, budget, scratch);
    blocks.clear();
    for (std::size_t i = first; i < end; ++i) { blocks.push_back(tiles[i].block); }
    tile::TileBatch const* batch = nullptr;
    try {
      batch = &fetcher.fetch(blocks);
    } catch (Error const& error) { throw error.located({.source = level.source->name(), .ifd = level.image.ifd}); }
    for (std::size_t i = first; i < end; ++i) {
      count_and_take(i, decoder.decode(*batch, i - first).front(), decoder.layout().row_bytes, false);
    }
    counts.bytes_read += fetcher.bytes_read() + decoder.bytes_read();
  }
  scratch.trim();
  return counts;
}

// Sends the first `count` rows of a decoded tile.
void send_rows(TileRows const& rows, WorkTile const& tile, std::uint32_t count, std::vector<std::byte>& row,
               RowSink const& sink) {
  row.resize(rows.row_bytes);
  for (std::uint32_t r = 0; r < count; ++r) {
    sink(tile.output_offset + std::uint64_t{r} * rows.row_bytes,
         {rows.rows.finished_row(r, row.data()), rows.row_bytes});
  }
}

}  // namespace

HostTileCounts decode_host_tiles(std::span<WorkTile const> tiles, bool trusted, bool strict, MemoryBudget& budget,
                                 std::span<tile::TileStatus> statuses, RowSink const& sink) {
  std::vector<std::byte> row;
  return decode_each(tiles, trusted, budget, rows_of,
                     [&](std::size_t i, TileResult const& result, TileRows const& rows) {
                       bool const surplus = strict && result.surplus_input;
                       statuses[i] = result.status == TileStatus::ok && surplus ? TileStatus::corrupt : result.status;
                       if (statuses[i] == TileStatus::ok) { send_rows(rows, tiles[i], rows_of(tiles[i]), row, sink); }
                     });
}

HostTileCounts settle_host_tiles(std::span<WorkTile const> tiles, bool trusted, MemoryBudget& budget,
                                 TileVerdicts& verdicts, std::span<tile::TileStatus> statuses, RowSink const& sink) {
  std::vector<std::byte> row;
  auto const wanted = [&](WorkTile const& tile) { return verdicts.wanted_rows(tile, true); };
  return decode_each(
      tiles, trusted, budget, wanted, [&](std::size_t i, TileResult const& result, TileRows const& decoded) {
        WorkTile const& tile = tiles[i];
        statuses[i] = TileStatus::corrupt;
        std::optional<std::uint32_t> const judged = verdicts.judge(tile, decoded.raw, result);
        if (!judged) { return; }
        statuses[i] = TileStatus::ok;
        std::uint32_t const rows = verdicts.wanted_rows(tile, decoded.raw), good = std::min(*judged, rows);
        send_rows(decoded, tile, good, row, sink);
        if (good == rows) { return; }
        row.resize(decoded.row_bytes);
        verdicts.fill_row(tile, finished_format(*tile.level, trusted), row);
        for (std::uint32_t r = good; r < rows; ++r) { sink(tile.output_offset + std::uint64_t{r} * row.size(), row); }
      });
}

}  // namespace terrazzo::reading
