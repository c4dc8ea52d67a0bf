// SPDX-License-Identifier: Apache-2.0
//
// HostView and DeviceView have the same fields and are two types so that nobody passes one for the other. Inside,
// LevelRows has one of them and says whose memory it is.
#pragma once

namespace terrazzo::writing {

template <class To, class From>
[[nodiscard]] To view_as(From const& view) noexcept {
  return {view.data,
          view.dtype,
          view.bands,
          view.height,
          view.width,
          view.band_stride_bytes,
          view.row_stride_bytes,
          view.pixel_stride_bytes};
}

}  // namespace terrazzo::writing
