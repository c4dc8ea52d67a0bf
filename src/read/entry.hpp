// SPDX-License-Identifier: Apache-2.0
//
// What the public reads have in common, whatever memory their result is in.
#pragma once

#include "base/text.hpp"
#include "read/plan.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/view_strides.hpp"

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

// The destination with its strides. Throws `usage` where it is not of the plan's shape and type, or has one place for
// several samples. View: HostView or DeviceView.
template <class View>
[[nodiscard]] View checked_view(ReadPlan::Impl const& plan, View const& view) {
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
  View const strided = tile::with_strides(view);
  tile::check_distinct_samples(strided);
  return strided;
}

}  // namespace terrazzo::reading
