// SPDX-License-Identifier: Apache-2.0
//
// Code shared by the public reads, for results in host and device memory.
#pragma once

#include "base/text.hpp"
#include "read/plan/plan.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/view_strides.hpp"

namespace terrazzo::reading {

// Inner layers describe the error; this layer adds the name of the file.
template <class Work>
auto naming_the_source(Dataset const& dataset, Work const& work) {
  try {
    return work();
  } catch (Error const& error) { throw error.located({.source = dataset.info().source}); }
}

// The destination's type is the default for the request's.
[[nodiscard]] inline ReadRequest with_dtype(ReadRequest request, DType dtype) {
  if (!request.dtype) { request.dtype = dtype; }
  return request;
}

// The destination with its strides. Throws `usage` if its shape or type differs from the plan's, or if several samples
// share one address. View: HostView or DeviceView.
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
