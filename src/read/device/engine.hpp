// SPDX-License-Identifier: Apache-2.0
//
// The interface of the device engine for the rest of read/: no CUDA here. A build without CUDA has engine_absent.cpp
// instead of engine.cpp: functions that need a device then throw `unsupported`, and queries report none.
#pragma once

#include "gpu/runtime/device_speed.hpp"
#include "read/device/work.hpp"
#include "read/read_job.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace terrazzo::reading {

[[nodiscard]] DeviceState device_engine_state();

// The facts about the current device that plans of reads use. Cheap after the first call for each device.
struct DeviceFacts {
  bool usable = false;          // there is a GPU that this build has code for
  std::string reason{};         // the reason why there is none
  DeviceAbilities abilities{};  // of its decoders; none without a GPU
  gpu::DeviceSpeed speed{};
};
[[nodiscard]] DeviceFacts device_facts();

// As gpu::choose_device(): makes the GPU of a request current until the result is destroyed.
[[nodiscard]] std::shared_ptr<void const> choose_device(std::optional<int> device);

// Reads into device memory. request.engine or the cost model chooses the decoder, for each run of jobs of one format.
// When execute() returns, the pixels are complete for any stream.
class DeviceEngine final : public ReadEngine {
 public:
  // `result` has the strides of every job's part. The read waits for work that the caller put on `stream` (null: none).
  // With `profile`, the stages run one after the other and are timed.
  DeviceEngine(ReadRequest const& request, DeviceView const& result, StreamView stream, StageTimes* profile = nullptr)
      : request_(request), result_(result), stream_(stream), profile_(profile) {}

  void execute(std::span<ReadJob const> jobs, ReadReport& report) override;

 private:
  [[maybe_unused]] ReadRequest const& request_;
  DeviceView result_;
  StreamView stream_;
  [[maybe_unused]] StageTimes* profile_;
};

// Allocates device memory for a result. Throws `limit` if the device has less free memory.
[[nodiscard]] std::shared_ptr<DeviceMemory> allocate_result(std::uint64_t bytes, ReadRequest const& request);

[[nodiscard]] int current_device();

// Scratch that such a read may use in addition to its result: its budget, or the free memory if that is less.
[[nodiscard]] std::uint64_t engine_budget_bytes(ReadRequest const& request);

// Waits for `stream` and copies.
void copy_to_host(void const* from, std::span<std::byte> to, unsigned threads, StreamView stream);

void release_engine_memory();
[[nodiscard]] DeviceMemoryUse engine_memory_use();
void reset_engine_memory_peak();

}  // namespace terrazzo::reading
