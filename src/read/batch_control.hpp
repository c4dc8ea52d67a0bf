// SPDX-License-Identifier: Apache-2.0
//
// The control data of a batch: where its tiles lie, where they go, and what became of them. The host writes it into
// pinned memory, and it goes to the device as it is: one layout for both sides. No CUDA here.
#pragma once

#include "read/device_batches.hpp"
#include "tile/placement.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// The parts of control data that begins at `memory`, the host's or the device's: nothing is read from it here.
class BatchControl {
 public:
  BatchControl(std::byte* memory, BatchLayout const& layout) noexcept : memory_(memory), layout_(layout) {}

  [[nodiscard]] std::uint64_t* input_offsets() const noexcept { return numbers(layout_.input_offsets()); }
  [[nodiscard]] std::uint64_t* input_sizes() const noexcept { return numbers(layout_.input_sizes()); }
  [[nodiscard]] std::uint64_t* output_offsets() const noexcept { return numbers(layout_.output_offsets()); }
  [[nodiscard]] std::uint64_t* output_sizes() const noexcept { return numbers(layout_.output_sizes()); }
  [[nodiscard]] tile::Placement* placements() const noexcept {
    return reinterpret_cast<tile::Placement*>(memory_ + layout_.placement_list());
  }
  [[nodiscard]] tile::TileStatus* statuses() const noexcept {
    return reinterpret_cast<tile::TileStatus*>(memory_ + layout_.statuses());
  }

 private:
  [[nodiscard]] std::uint64_t* numbers(std::size_t at) const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_ + at);
  }

  std::byte* memory_;
  BatchLayout const& layout_;
};

// Everything but the statuses, which are the decoder's to write. The host's memory.
void write_control(BatchControl const& control, WorkBatch const& batch, DeviceWork const& work,
                   std::span<DeviceJob const> jobs, tile::ResultFormat const& result);

// Of the batch's placements: the most rows that one of them has. The host's memory.
[[nodiscard]] std::uint32_t max_placed_rows(BatchControl const& control, WorkBatch const& batch) noexcept;

// Of the batch's tiles: those whose status is not ok, in order. The host's memory.
[[nodiscard]] std::vector<std::uint32_t> failed_tiles(BatchControl const& control, WorkBatch const& batch);

}  // namespace terrazzo::reading
