// SPDX-License-Identifier: Apache-2.0
//
// Divides the tiles of a device read into batches and pieces, and computes the layout of a batch in memory. Values
// only: needs no GPU.
#pragma once

#include "read/device/work.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace terrazzo::reading {

// The properties of a batch that determine how much scratch its decoder needs.
struct DecodeLoad {
  std::uint32_t tiles = 0;
  std::uint64_t input_bytes = 0, max_input_bytes = 0;
  std::uint64_t output_bytes = 0, max_output_bytes = 0;
};

// Offsets of the parts of a batch in a slot's device memory, and of the control data in its pinned memory.
struct BatchLayout {
  std::size_t input = 0, output = 0, scratch = 0, control = 0, total = 0;
  std::size_t scratch_bytes = 0;
  std::size_t control_bytes = 0;
  std::size_t tiles = 0, placements = 0;  // capacities
  std::size_t host_input_bytes = 0;       // pinned input for decoders that read host memory

  // Offsets in the control data.
  [[nodiscard]] std::size_t input_offsets() const noexcept { return 0; }
  [[nodiscard]] std::size_t input_sizes() const noexcept { return tiles * 8; }
  [[nodiscard]] std::size_t output_offsets() const noexcept { return tiles * 16; }
  [[nodiscard]] std::size_t output_sizes() const noexcept { return tiles * 24; }
  [[nodiscard]] std::size_t placement_list() const noexcept { return tiles * 32; }
  [[nodiscard]] std::size_t statuses() const noexcept { return tiles * 32 + placements * sizeof(tile::Placement); }
};

// The unit of work of a thread: a run of whole tiles, or a part of one tile that is larger than a chunk.
struct Piece {
  std::size_t batch = 0;
  std::size_t first_tile = 0, tile_count = 0;  // range in the work's tiles
  std::uint64_t begin = 0, bytes = 0;          // range in the batch's input
  std::uint64_t skip_bytes = 0;                // offset in the tile, if the piece is a part of one
  bool first_of_batch = false;
};

struct BatchRules {
  DeviceMethod method = DeviceMethod::raw;
  bool host_input = false;         // the decoder reads its input from host memory
  bool one_at_a_time = false;      // stages do not overlap: the largest batch is the best
  std::uint64_t budget_bytes = 0;  // limit for all slots together
  std::uint64_t host_input_limit_bytes = 0;  // limit for all slots' host_input_bytes together
  std::uint64_t chunk_bytes = 0;   // chunk size of the pinned pool
  std::function<std::size_t(DecodeLoad const&)> scratch_bytes{};
};

struct BatchPlan {
  std::vector<WorkBatch> batches;
  BatchLayout layout;       // layout of batches that the device decodes
  BatchLayout host_layout;  // layout of batches that the host decodes: rows and control data only
  std::vector<std::size_t> slot_bytes{0};  // bytes that each slot's batches need; batch b uses slot b % slots
  std::vector<Piece> pieces;  // in the order in which threads take them
  std::vector<std::size_t> pieces_of_batch;

  [[nodiscard]] BatchLayout const& layout_of(WorkBatch const& batch) const noexcept {
    return batch.on_host ? host_layout : layout;
  }
  [[nodiscard]] std::size_t slots() const noexcept { return slot_bytes.size(); }
  [[nodiscard]] std::uint64_t host_input_bytes() const noexcept {
    return std::uint64_t{layout.host_input_bytes} * slots();
  }
};

// Throws `limit` if one tile exceeds the budget or the limit.
[[nodiscard]] BatchPlan plan_batches(DeviceWork& work, BatchRules const& rules);

[[nodiscard]] DecodeLoad load_of(WorkBatch const& batch, DeviceWork const& work) noexcept;

// The offset at which a tile's bytes are stored: uncompressed bytes go straight to the decoded output.
[[nodiscard]] inline std::uint64_t place_in_input(WorkTile const& tile, DeviceMethod method) noexcept {
  return method == DeviceMethod::raw ? tile.output_offset : tile.input_offset;
}

}  // namespace terrazzo::reading
