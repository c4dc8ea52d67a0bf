// SPDX-License-Identifier: Apache-2.0
//
// Rows of one level of a new file, in device memory.
#pragma once

#include "terrazzo/view.hpp"
#include "tile/level_rows.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

using DeviceRows = tile::LevelRows<MemoryKind::device, void>;
using ConstDeviceRows = tile::LevelRows<MemoryKind::device, void const>;

// True if every sample has an address that is a multiple of `bytes`, a power of two.
[[nodiscard]] inline bool is_aligned(ConstDeviceView const& view, std::size_t bytes) noexcept {
  auto const all = reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.band_stride_bytes) |
                   static_cast<std::uintptr_t>(view.row_stride_bytes) |
                   static_cast<std::uintptr_t>(view.pixel_stride_bytes);
  return all % bytes == 0;
}

}  // namespace terrazzo::gpu
