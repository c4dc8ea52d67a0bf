// SPDX-License-Identifier: Apache-2.0
#include "read/device/batch_control.hpp"

#include <algorithm>

namespace terrazzo::reading {

void write_control(BatchControl const& control, WorkBatch const& batch, DeviceWork const& work,
                   std::span<ReadJob const> jobs, tile::ResultFormat const& result) {
  std::size_t placed = 0;
  for (std::size_t i = 0; i < batch.tile_count; ++i) {
    WorkTile const& tile = work.tiles[batch.first_tile + i];
    control.input_offsets()[i] = tile.input_offset;
    control.input_sizes()[i] = tile.size_bytes;
    control.output_offsets()[i] = tile.output_offset;
    control.output_sizes()[i] = tile.decoded_bytes;
    for (std::size_t u = 0; u < tile.use_count; ++u) {
      tile::Placement placement = placement_of(jobs, work.uses[tile.first_use + u], result);
      placement.source_offset_bytes = tile.output_offset;
      placement.tile = static_cast<std::uint32_t>(i);
      control.placements()[placed++] = placement;
    }
  }
}

std::uint32_t max_placed_rows(BatchControl const& control, WorkBatch const& batch) noexcept {
  std::uint32_t rows = 0;
  for (std::size_t i = 0; i < batch.placement_count; ++i) { rows = std::max(rows, control.placements()[i].rows); }
  return rows;
}

std::vector<std::uint32_t> failed_tiles(BatchControl const& control, WorkBatch const& batch) {
  std::vector<std::uint32_t> failed;
  for (std::size_t i = 0; i < batch.tile_count; ++i) {
    if (control.statuses()[i] != tile::TileStatus::ok) { failed.push_back(static_cast<std::uint32_t>(i)); }
  }
  return failed;
}

}  // namespace terrazzo::reading
