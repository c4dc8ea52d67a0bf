// SPDX-License-Identifier: Apache-2.0
//
// How samples lie in a view, told by its strides. Host's and device's views have the same fields.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Whether pixels of `samples` bands follow each other without a gap, their samples in order: a row is one run of bytes.
template <class View>
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool has_pixels_together(View const& view, std::uint32_t samples,
                                                                      std::size_t sample_bytes) noexcept {
  auto const sample = static_cast<std::int64_t>(sample_bytes);
  return view.pixel_stride_bytes == sample * samples && (samples == 1 || view.band_stride_bytes == sample);
}

}  // namespace terrazzo::tile
