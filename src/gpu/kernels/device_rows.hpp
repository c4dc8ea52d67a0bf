// SPDX-License-Identifier: Apache-2.0
//
// Rows of one level of a file that is being written, in device memory.
#pragma once

#include "terrazzo/device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

// Rows [first, first + pixels.height) of the level, in its full width. Mask: one uint8 band, 0 is invalid.
struct DeviceRows {
  std::uint32_t first = 0;
  DeviceView pixels{};
  DeviceView mask{};  // data null when there is none
};

// Whether every sample lies at a multiple of `bytes`, a power of two.
[[nodiscard]] inline bool is_aligned(DeviceView const& view, std::size_t bytes) noexcept {
  auto const all = reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.band_stride_bytes) |
                   static_cast<std::uintptr_t>(view.row_stride_bytes) |
                   static_cast<std::uintptr_t>(view.pixel_stride_bytes);
  return all % bytes == 0;
}

}  // namespace terrazzo::gpu
