// SPDX-License-Identifier: Apache-2.0
//
// Reads tiles into device memory, decodes and places them there: disk, PCIe and the GPU's processors at once.
//
// The work is cut into batches. Threads take pieces of batches in order, read them into pinned chunks and send them to
// the batch's slot; whoever brings the last piece starts decoding and placing on the slot's stream. A slot is taken
// again when its batch is done. Nothing waits for the device but the taking of a slot and of a pinned chunk.
#pragma once

#include "base/memory_budget.hpp"
#include "read/device_work.hpp"
#include "read/returned_tiles.hpp"
#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

namespace terrazzo::reading {

struct DeviceTask {
  std::span<DeviceJob const> jobs;
  DeviceMethod method = DeviceMethod::raw;
  tile::ResultFormat result{};
  ReadRequest const& request;
  cudaStream_t caller = nullptr;    // waited for before the first write; may be null
  DeviceAllocator& allocator;
  std::uint64_t budget_bytes = 0;
  MemoryBudget& host_budget;
  ReturnedTiles& returned;          // gets the compressed bytes of tiles that the device could not decode
  StageTimes* profile = nullptr;    // given: stages run one after the other and are timed
};

// Tiles the device could not decode, to be read by the host; in file order.
[[nodiscard]] std::vector<WorkTile> run_pipeline(DeviceTask const& task, DeviceWork& work, ReadReport& report);

}  // namespace terrazzo::reading
