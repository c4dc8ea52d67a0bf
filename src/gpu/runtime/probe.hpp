// SPDX-License-Identifier: Apache-2.0
//
// Properties of the machine's GPU. Works without a driver and then reports that.
#pragma once

#include "terrazzo/device.hpp"

#include <cstdint>

namespace terrazzo::gpu {

// The current device of the calling thread; the caller adds the libraries. The budget is that of
// DeviceContext::budget_bytes(0). Never throws.
[[nodiscard]] DeviceState probe_device();

// Throws `device` with the probe's reason if there is no usable GPU. Cheap after the first call.
void require_device();

}  // namespace terrazzo::gpu
