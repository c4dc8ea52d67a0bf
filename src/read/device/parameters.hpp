// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a device read that its stages share. They are constant while batches are in flight.
#pragma once

#include "base/memory_budget.hpp"
#include "gpu/runtime/device_context.hpp"
#include "read/device/fallback/returned_tiles.hpp"
#include "read/device/fallback/tile_verdicts.hpp"
#include "read/device/work.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"

#include <cuda_runtime_api.h>

#include <span>

namespace terrazzo::reading {

struct DeviceParameters {
  gpu::DeviceContext& context;
  std::span<ReadJob const> jobs;
  DeviceMethod method = DeviceMethod::raw;
  tile::ResultFormat result{};
  ReadRequest const& request;
  cudaStream_t caller = nullptr;    // the read waits for it before its first write; may be null
  std::shared_ptr<DeviceAllocator> allocator;
  std::uint64_t budget_bytes = 0;
  MemoryBudget& host_budget;
  ReturnedTiles& returned;          // receives the compressed bytes of tiles that the device could not decode
  TileVerdicts* verdicts = nullptr;  // if set, the host's threads decide about every tile
  StageTimes* profile = nullptr;    // if set, stages run one after the other and are timed
};

}  // namespace terrazzo::reading
