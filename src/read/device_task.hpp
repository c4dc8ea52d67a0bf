// SPDX-License-Identifier: Apache-2.0
//
// What a device read is asked for, as its stages see it.
#pragma once

#include "base/memory_budget.hpp"
#include "read/device_work.hpp"
#include "read/returned_tiles.hpp"
#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <span>

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

}  // namespace terrazzo::reading
