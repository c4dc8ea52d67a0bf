// SPDX-License-Identifier: Apache-2.0
#include "read/host_tiles.hpp"

#include "read/block_reader.hpp"
#include "read/decode_method.hpp"

#include <optional>
#include <vector>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

std::uint32_t rows_of(WorkTile const& tile) {
  tiff::Image const& image = tile.level->image;
  return image.block_rows(static_cast<std::uint32_t>(tile.block % image.blocks_per_plane() / image.blocks_across));
}

}  // namespace

tile::RowFormat finished_format(Level const& level, bool trusted) {
  DecodeMethod const method = choose_method(level, trusted);
  bool const rgb = level.image.is_converted_to_rgb() || method.kind == DecodeMethod::Kind::libtiff_rgba;
  tile::RowFormat format;
  format.dtype = level.dtype;
  format.width_px = level.image.block_width_px;
  format.samples = rgb ? level.bands : level.image.samples_per_block();
  format.sample_bytes = static_cast<std::uint32_t>(size_bytes(level.dtype));
  format.bits = format.sample_bytes * 8;
  format.decoded_row_bytes = format.finished_row_bytes =
      std::uint64_t{format.width_px} * format.samples * format.sample_bytes;
  return format;
}

HostTileCounts decode_host_tiles(std::span<WorkTile const> tiles, bool trusted, bool strict, MemoryBudget& budget,
                                 std::span<tile::TileStatus> statuses, RowSink const& sink) {
  HostTileCounts counts;
  ThreadScratch& scratch = thread_scratch();
  for (std::size_t first = 0; first < tiles.size();) {
    Level const& level = *tiles[first].level;
    DecodeMethod const method = choose_method(level, trusted);
    BlockReader reader(level, method, budget, scratch);
    bool const raw = method.kind == DecodeMethod::Kind::raw;
    std::vector<std::uint64_t> blocks;
    std::size_t end = first;
    for (; end < tiles.size() && tiles[end].level == &level; ++end) { blocks.push_back(tiles[end].block); }
    if (!raw) { reader.fetch(blocks); }
    // A copy: colours in planes are fetched while decoding.
    std::vector<tile::BatchItem> const items = raw ? std::vector<tile::BatchItem>{} : scratch.batch.items;
    std::vector<std::byte> row(reader.row_bytes());
    for (std::size_t i = first; i < end; ++i) {
      std::uint32_t const rows = rows_of(tiles[i]);
      TileResult const result = raw ? reader.read_rows(tiles[i].block, 0, rows) : reader.decode(items[i - first]);
      counts.surplus_tiles += result.surplus_input ? 1 : 0;
      statuses[i] =
          result.status == TileStatus::ok && strict && result.surplus_input ? TileStatus::corrupt : result.status;
      if (statuses[i] != TileStatus::ok) { continue; }
      for (std::uint32_t r = 0; r < rows; ++r) {
        sink(tiles[i].output_offset + std::uint64_t{r} * reader.row_bytes(),
             {reader.finished_row(r, row.data()), reader.row_bytes()});
      }
    }
    counts.bytes_read += reader.bytes_read();
    first = end;
  }
  scratch.trim();
  return counts;
}

}  // namespace terrazzo::reading
