// SPDX-License-Identifier: Apache-2.0
#include "read/window_jobs.hpp"

namespace terrazzo::reading {

namespace {

std::string item_of(ReadPlan::Impl const& plan) {
  return text(plan.bands.size(), " x ", plan.out_height, " x ", plan.out_width, " of ", to_string(plan.dtype));
}

}  // namespace

std::string window_prefix(Window const& window) {
  return text("window (column ", window.column, ", row ", window.row, ", ", window.width, " x ", window.height, "): ");
}

std::vector<ReadJob> plan_windows(std::span<WindowOf const> windows, ReadRequest request) {
  if (request.window || request.has_target()) {
    throw Error(ErrorKind::usage, "windows are given one by one: the request has none of its own, and no target size");
  }
  std::vector<ReadJob> jobs;
  jobs.reserve(windows.size());
  for (WindowOf const& window : windows) {
    request.window = window.window;
    naming_the_source(window.dataset, [&] {
      jobs.push_back({make_plan(window.dataset.shared_impl(), request)});
      ReadPlan::Impl const &first = *jobs.front().plan, &plan = *jobs.back().plan;
      if (plan.bands.size() != first.bands.size() || plan.out_height != first.out_height ||
          plan.out_width != first.out_width || plan.dtype != first.dtype) {
        throw Error(ErrorKind::usage,
                    text(window_prefix(window.window), "it is ", item_of(plan), ", the first is ", item_of(first)));
      }
    });
  }
  return jobs;
}

std::uint32_t item_count(std::span<WindowOf const> windows) {
  auto const count = static_cast<std::uint32_t>(windows.size());
  if (count == 0 || count != windows.size()) {
    throw Error(ErrorKind::usage, text(windows.size(), " windows for a tensor"));
  }
  return count;
}

void place_items(std::span<ReadJob> jobs, std::int64_t item_stride_bytes) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].destination_offset_bytes = static_cast<std::int64_t>(i) * item_stride_bytes;
  }
}

}  // namespace terrazzo::reading
