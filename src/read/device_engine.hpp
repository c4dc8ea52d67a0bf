// SPDX-License-Identifier: Apache-2.0
//
// The device engine as the rest of read/ sees it: no CUDA here. A build without CUDA has device_engine_absent.cpp
// instead of device_engine.cpp; every function but device_engine_state() then throws `unsupported`.
#pragma once

#include "read/device_work.hpp"
#include "terrazzo/device.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::reading {

[[nodiscard]] DeviceState device_engine_state();

// Whether there is a GPU that this build has code for. Cheap after the first call.
[[nodiscard]] bool device_is_usable();

// What the machine's device decoders can do; nothing without a GPU. Cheap after the first call.
[[nodiscard]] DeviceAbilities usable_device_abilities();

// Reads every job; request.engine says who decodes, or the cost model, for each run of jobs of one format. `view` has
// the strides of one job's result; a job's own offset is added to its data. On return the pixels are there for any
// stream.
void execute_on_device(std::span<DeviceJob const> jobs, ReadRequest const& request, DeviceView const& view,
                       void* stream, ReadReport& report, StageTimes* profile = nullptr);

// Device memory for a result, refused with `limit` when the device has less free. Freed when the last owner goes.
[[nodiscard]] std::shared_ptr<void> allocate_result(std::uint64_t bytes, ReadRequest const& request);

[[nodiscard]] int current_device();

// Scratch that such a read may take, beyond its result: its budget, or what is free if that is less.
[[nodiscard]] std::uint64_t engine_budget_bytes(ReadRequest const& request);

// Waits for `stream` and copies.
void copy_to_host(void const* from, std::span<std::byte> to, unsigned threads, void* stream);

void release_engine_memory();
[[nodiscard]] DeviceMemoryUse engine_memory_use();
void reset_engine_memory_peak();

}  // namespace terrazzo::reading
