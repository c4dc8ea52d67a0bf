// SPDX-License-Identifier: Apache-2.0
//
// Tiles of a device read that the host's threads decode: those no device decoder takes, and a share of the others while
// the device is busy. They go up as finished samples, packed. No CUDA here.
#pragma once

#include "base/memory_budget.hpp"
#include "read/device_work.hpp"
#include "tile/row_format.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace terrazzo::reading {

// What finished rows of a block are: native samples side by side, nothing left to undo.
[[nodiscard]] tile::RowFormat finished_format(Level const& level, bool trusted);

// Takes `bytes` of finished samples that belong at `offset_bytes` of the batch's output.
using RowSink = std::function<void(std::uint64_t offset_bytes, std::span<std::byte const> bytes)>;

struct HostTileCounts {
  std::uint64_t bytes_read = 0, surplus_tiles = 0;
};

// Decodes the tiles one after the other on the calling thread; rows go to tile.output_offset and on. A tile that is not
// perfect (with `strict`: that holds surplus data) gets a status other than ok and its rows, if any went, mean nothing.
HostTileCounts decode_host_tiles(std::span<WorkTile const> tiles, bool trusted, bool strict, MemoryBudget& budget,
                                 std::span<tile::TileStatus> statuses, RowSink const& sink);

}  // namespace terrazzo::reading
