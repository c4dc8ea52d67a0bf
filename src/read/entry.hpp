// SPDX-License-Identifier: Apache-2.0
//
// What the public reads have in common, whatever memory their result is in.
#pragma once

#include "base/text.hpp"
#include "read/plan.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// Inner layers say what is wrong; here every error learns which file it is about.
template <class Work>
auto naming_the_source(Dataset const& dataset, Work const& work) {
  try {
    return work();
  } catch (Error const& error) { throw error.located({.source = dataset.info().source}); }
}

// A destination says which type is wanted, unless the request does.
[[nodiscard]] inline ReadRequest with_dtype(ReadRequest request, DType dtype) {
  if (!request.dtype) { request.dtype = dtype; }
  return request;
}

// Throws `usage` for a destination that is not of the plan's shape and type. View: HostView or DeviceView.
template <class View>
void check_view(ReadPlan::Impl const& plan, View const& view) {
  if (view.data == nullptr) { throw Error(ErrorKind::usage, "the destination has no memory"); }
  if (view.bands != plan.bands.size() || view.height != plan.out_height || view.width != plan.out_width) {
    throw Error(ErrorKind::usage,
                text("the destination is ", view.bands, " x ", view.height, " x ", view.width, ", the result ",
                     plan.bands.size(), " x ", plan.out_height, " x ", plan.out_width));
  }
  if (view.dtype != plan.dtype) {
    throw Error(ErrorKind::usage,
                text("the destination holds ", to_string(view.dtype), ", the result is ", to_string(plan.dtype)));
  }
}

// Rows of one band after another, without gaps.
template <class View>
[[nodiscard]] View contiguous_view(void* data, DType dtype, std::uint32_t bands, std::uint32_t height,
                                   std::uint32_t width) noexcept {
  auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
  return {data, dtype, bands, height, width, sample * width * height, sample * width, sample};
}

}  // namespace terrazzo::reading
