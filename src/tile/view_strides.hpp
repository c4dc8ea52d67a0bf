// SPDX-License-Identifier: Apache-2.0
//
// The layout of samples in a view, computed from its strides. Host and device views have the same fields.
#pragma once

#include "base/checked.hpp"
#include "base/host_device.hpp"
#include "base/text.hpp"
#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// True if pixels of `samples` bands are contiguous, with their samples in order: a row is one run of bytes.
template <class View>
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool has_pixels_together(View const& view, std::uint32_t samples,
                                                                      std::size_t sample_bytes) noexcept {
  auto const sample = static_cast<std::int64_t>(sample_bytes);
  return view.pixel_stride_bytes == sample * samples && (samples == 1 || view.band_stride_bytes == sample);
}

// A view of contiguous rows, one band after another.
template <class View>
[[nodiscard]] View contiguous_view(decltype(View::data) data, DType dtype, std::uint32_t bands, std::uint32_t height,
                                   std::uint32_t width) noexcept {
  auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
  return {data, dtype, bands, height, width, sample * width * height, sample * width, sample};
}

// All strides 0 mean such a view (terrazzo/read.hpp). Other views are returned unchanged.
template <class View>
[[nodiscard]] View with_strides(View const& view) {
  if (view.band_stride_bytes != 0 || view.row_stride_bytes != 0 || view.pixel_stride_bytes != 0) { return view; }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  auto const bytes = checked_product(size_bytes(view.dtype), view.bands, view.height, view.width);
  if (!bytes || *bytes > kMost) {
    throw Error(ErrorKind::usage, text("no memory holds a packed view of ", view.bands, " x ", view.height, " x ",
                                       view.width, " samples"));
  }
  return contiguous_view<View>(view.data, view.dtype, view.bands, view.height, view.width);
}

// Throws `usage` for a view in which samples share an address: a writer would lose all but one of them.
template <class View>
void check_distinct_samples(View const& view) {
  auto const check = [](std::int64_t stride, std::uint32_t count, char const* what) {
    if (stride != 0 || count < 2) { return; }
    throw Error(ErrorKind::usage, text("the destination has ", count, " ", what, " at one address: their stride is 0 ",
                                       "(all three strides 0 mean a packed view)"));
  };
  check(view.band_stride_bytes, view.bands, "bands");
  check(view.row_stride_bytes, view.height, "rows");
  check(view.pixel_stride_bytes, view.width, "columns");
}

}  // namespace terrazzo::tile
