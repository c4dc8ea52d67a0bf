// SPDX-License-Identifier: Apache-2.0
//
// Divides the budget of the device engine among pending rows, windows of overviews, and batches of blocks from cut to
// packed. Arithmetic only; needs no GPU.
#pragma once

#include "write/plan/file_plan.hpp"
#include "write/row_engine.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace terrazzo::writing {

struct BatchCost {
  // Device memory of batches of `blocks` blocks, all stages together, with `slots` slots for packed blocks;
  // non-decreasing in both arguments.
  std::function<std::uint64_t(std::uint32_t blocks, std::size_t slots)> device_bytes{};
  std::uint64_t useful_bytes = 0;  // bytes of the raster: a larger batch gains no speed
};

struct MemorySplit {
  RowShare rows{};
  std::uint32_t batch_blocks = 1;
  // Slots for packed batches. Two, so that one is made while another is copied back. For a COG whose raster is in
  // reach, all batches if they fit, so that no tile waits on the host for the sizes of the others.
  std::size_t slots = 2;
  std::uint64_t bytes = 0;  // total: exceeds the budget only at the minimum, one block row and one block
};

// `in_reach`: the caller's rows lie in device memory and are processed in place, so that only their overviews take
// memory.
[[nodiscard]] MemorySplit split_device_memory(FilePlan const& plan, std::uint64_t budget_bytes, BatchCost const& batch,
                                              bool in_reach);

// The number of stored blocks of all levels; a block and its mask count as one.
[[nodiscard]] std::uint64_t block_count(FilePlan const& plan) noexcept;

// Memory of the rows if the raster comes in parts of `rows`: pending rows, and every overview's window.
[[nodiscard]] std::uint64_t waiting_bytes(FilePlan const& plan, std::uint32_t rows);
[[nodiscard]] std::uint64_t overview_bytes(FilePlan const& plan, std::uint32_t rows);

}  // namespace terrazzo::writing
