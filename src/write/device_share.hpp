// SPDX-License-Identifier: Apache-2.0
//
// How the device engine shares out its budget: rows that wait, windows of overviews, and what a batch of blocks needs
// from cut to packed. Arithmetic only; needs no GPU.
#pragma once

#include "write/file_plan.hpp"
#include "write/row_engine.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace terrazzo::writing {

struct BatchCost {
  // Device memory of batches of `blocks`, all stages together, with so many slots for what is packed; does not shrink
  // as either grows.
  std::function<std::uint64_t(std::uint32_t blocks, std::size_t slots)> device_bytes{};
  std::uint64_t useful_bytes = 0;  // of the raster: a larger batch gains no speed
};

struct DeviceShare {
  RowShare rows{};
  std::uint32_t batch_blocks = 1;
  // Batches that can wait packed. Two, so that one is made while another travels; for a COG that the caller has whole,
  // all of them where they fit, so that no tile waits on the host for the sizes of the others.
  std::size_t slots = 2;
  std::uint64_t bytes = 0;  // of all of it together: over the budget only at the floor, one block row and one block
};

// `in_reach`: the caller's rows lie in device memory and are worked on there, so that only overviews of them take
// memory.
[[nodiscard]] DeviceShare share_device_memory(FilePlan const& plan, std::uint64_t budget_bytes, BatchCost const& batch,
                                              bool in_reach);

// Blocks of all levels that are stored; a mask's are not counted apart.
[[nodiscard]] std::uint64_t block_count(FilePlan const& plan) noexcept;

// What the rows take when the raster comes in parts of `rows`: those that wait, and every overview's window.
[[nodiscard]] std::uint64_t waiting_bytes(FilePlan const& plan, std::uint32_t rows);
[[nodiscard]] std::uint64_t overview_bytes(FilePlan const& plan, std::uint32_t rows);

}  // namespace terrazzo::writing
