// SPDX-License-Identifier: Apache-2.0
//
// How the tiles of a device read are cut into batches and pieces, and where the parts of a batch lie in memory. Values
// only: needs no GPU.
#pragma once

#include "read/device_work.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace terrazzo::reading {

// What a decoder needs to know of a batch to say how much scratch it wants.
struct DecodeLoad {
  std::uint32_t tiles = 0;
  std::uint64_t input_bytes = 0, max_input_bytes = 0;
  std::uint64_t output_bytes = 0, max_output_bytes = 0;
};

// Where the parts of a batch lie in a slot's device memory, and the control data in its pinned memory.
struct BatchLayout {
  std::size_t input = 0, output = 0, scratch = 0, control = 0, total = 0;
  std::size_t scratch_bytes = 0;
  std::size_t control_bytes = 0;
  std::size_t tiles = 0, placements = 0;  // room for
  std::size_t host_input_bytes = 0;       // pinned, for decoders that read the host's memory

  // In the control data.
  [[nodiscard]] std::size_t input_offsets() const noexcept { return 0; }
  [[nodiscard]] std::size_t input_sizes() const noexcept { return tiles * 8; }
  [[nodiscard]] std::size_t output_offsets() const noexcept { return tiles * 16; }
  [[nodiscard]] std::size_t output_sizes() const noexcept { return tiles * 24; }
  [[nodiscard]] std::size_t placement_list() const noexcept { return tiles * 32; }
  [[nodiscard]] std::size_t statuses() const noexcept { return tiles * 32 + placements * sizeof(tile::Placement); }
};

// What a thread takes at a time: a run of whole tiles, or a part of one that is larger than a chunk.
struct Piece {
  std::size_t batch = 0;
  std::size_t first_tile = 0, tile_count = 0;  // in the work
  std::uint64_t begin = 0, bytes = 0;          // in the batch's input
  std::uint64_t skip_bytes = 0;                // of the tile, when it is a part
  bool first_of_batch = false;
};

struct BatchRules {
  DeviceMethod method = DeviceMethod::raw;
  bool host_input = false;         // the decoder reads its input from the host's memory
  bool one_at_a_time = false;      // nothing will overlap: the largest batch is the best one
  std::uint64_t budget_bytes = 0;  // of all slots together
  std::uint64_t host_input_limit_bytes = 0;  // likewise, of the host's memory that such a decoder reads
  std::uint64_t chunk_bytes = 0;   // of the pinned pool
  std::function<std::size_t(DecodeLoad const&)> scratch_bytes{};
};

struct BatchPlan {
  std::vector<WorkBatch> batches;
  BatchLayout layout;       // of batches that the device decodes
  BatchLayout host_layout;  // of those that the host decodes: rows and control data alone
  std::vector<std::size_t> slot_bytes{0};  // for each slot, what its batches need; batch b is in slot b % slots
  std::vector<Piece> pieces;  // in the order in which they are taken
  std::vector<std::size_t> pieces_of_batch;

  [[nodiscard]] BatchLayout const& layout_of(WorkBatch const& batch) const noexcept {
    return batch.on_host ? host_layout : layout;
  }
  [[nodiscard]] std::size_t slots() const noexcept { return slot_bytes.size(); }
  [[nodiscard]] std::uint64_t host_input_bytes() const noexcept {
    return std::uint64_t{layout.host_input_bytes} * slots();
  }
};

// Throws `limit` when one tile does not fit the budget or the limit.
[[nodiscard]] BatchPlan plan_batches(DeviceWork& work, BatchRules const& rules);

[[nodiscard]] DecodeLoad load_of(WorkBatch const& batch, DeviceWork const& work) noexcept;

// Where the tile's bytes go: those that are not compressed go where decoded ones would be.
[[nodiscard]] inline std::uint64_t place_in_input(WorkTile const& tile, DeviceMethod method) noexcept {
  return method == DeviceMethod::raw ? tile.output_offset : tile.input_offset;
}

}  // namespace terrazzo::reading
