// SPDX-License-Identifier: Apache-2.0
//
// Rows of one level of a file that is being written, in device memory.
#pragma once

#include "terrazzo/device.hpp"

#include <cstdint>

namespace terrazzo::gpu {

// Rows [first, first + pixels.height) of the level, in its full width. Mask: one uint8 band, 0 is invalid.
struct DeviceRows {
  std::uint32_t first = 0;
  DeviceView pixels{};
  DeviceView mask{};  // data null when there is none
};

}  // namespace terrazzo::gpu
