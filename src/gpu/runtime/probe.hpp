// SPDX-License-Identifier: Apache-2.0
//
// What the machine has. Works without a driver: then it says so.
#pragma once

#include "terrazzo/device.hpp"

#include <cstdint>

namespace terrazzo::gpu {

// The current device of the calling thread; libraries are the caller's to add. The budget is that of
// resolve_device_budget(0). Never throws.
[[nodiscard]] DeviceState probe_device();

// Throws `device` with the probe's reason when there is no usable GPU. Cheap after the first call.
void require_device();

// Scratch a read or write may take when it asked for `requested` (0: the process's default, TERRAZZO_DEVICE_BUDGET, or
// a quarter of the memory that the current device had free at first use, and at most 8 GiB). Whether as much is free
// now is another question: scratch_room().
[[nodiscard]] std::uint64_t resolve_device_budget(std::uint64_t requested);

}  // namespace terrazzo::gpu
