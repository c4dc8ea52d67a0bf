// SPDX-License-Identifier: Apache-2.0
//
// The control data of a batch: offsets, destinations and statuses of its tiles. The host writes it into pinned memory
// and copies it to the device unchanged: both sides use one layout. No CUDA here.
#pragma once

#include "read/device/batch_plan.hpp"
#include "tile/placement.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// Pointers to the parts of control data that begins at `memory`, in host or device memory. Computes addresses only;
// reads no bytes.
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

// Writes all parts except the statuses, which the decoder writes. REQUIRES: host memory.
void write_control(BatchControl const& control, WorkBatch const& batch, DeviceWork const& work,
                   std::span<ReadJob const> jobs, tile::ResultFormat const& result);

// The largest row count of the batch's placements. REQUIRES: host memory.
[[nodiscard]] std::uint32_t max_placed_rows(BatchControl const& control, WorkBatch const& batch) noexcept;

// The tiles of the batch whose status is not ok, in order. REQUIRES: host memory.
[[nodiscard]] std::vector<std::uint32_t> failed_tiles(BatchControl const& control, WorkBatch const& batch);

}  // namespace terrazzo::reading
