// SPDX-License-Identifier: Apache-2.0
//
// Tiles of a device read that the host's threads decode: tiles that no device decoder accepts, and a share of the
// others while the device is busy. They are uploaded as finished samples, packed. No CUDA here.
#pragma once

#include "base/memory_budget.hpp"
#include "read/device/fallback/tile_verdicts.hpp"
#include "read/device/work.hpp"
#include "tile/row_format.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace terrazzo::reading {

// The format of a block's finished rows: native samples side by side, with no step left to undo.
[[nodiscard]] tile::RowFormat finished_format(Level const& level, bool trusted);

// Takes `bytes` of finished samples for offset `offset_bytes` of the batch's output.
using RowSink = std::function<void(std::uint64_t offset_bytes, std::span<std::byte const> bytes)>;

struct HostTileCounts {
  std::uint64_t bytes_read = 0, surplus_tiles = 0;
};

// Decodes the tiles one after the other on the calling thread; rows go to tile.output_offset and the bytes after it. A
// tile with any defect (with `strict`: also surplus data) gets a status other than ok, and its rows are invalid.
HostTileCounts decode_host_tiles(std::span<WorkTile const> tiles, bool trusted, bool strict, MemoryBudget& budget,
                                 std::span<tile::TileStatus> statuses, RowSink const& sink);

// Like decode_host_tiles(), but final: fills missing rows and sets the status to ok, unless the tile ends the read.
HostTileCounts settle_host_tiles(std::span<WorkTile const> tiles, bool trusted, MemoryBudget& budget,
                                 TileVerdicts& verdicts, std::span<tile::TileStatus> statuses, RowSink const& sink);

}  // namespace terrazzo::reading
