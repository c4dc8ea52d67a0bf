// SPDX-License-Identifier: Apache-2.0
//
// read_windows() as a list of jobs, for batches in host and device memory.
#pragma once

#include "base/text.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "read/read_job.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::reading {

// "window (column 0, row 512, 256 x 256): "
[[nodiscard]] std::string window_prefix(Window const& window);

// One job for each window, in order, all of one shape and type; place_items() sets their destinations. Throws `usage`
// if the request has a window or a target size of its own, or if a window differs in size from the first.
[[nodiscard]] std::vector<ReadJob> plan_windows(std::span<WindowOf const> windows, ReadRequest request);

// The number of items of a batch that the library allocates. Throws `usage` if it is 0 or exceeds 32 bits.
[[nodiscard]] std::uint32_t item_count(std::span<WindowOf const> windows);

// Job i begins at i * item_stride_bytes.
void place_items(std::span<ReadJob> jobs, std::int64_t item_stride_bytes);

// Like checked_view(). Without strides, the items are contiguous too. BatchView: HostBatchView or DeviceBatchView.
template <class BatchView>
[[nodiscard]] BatchView checked_batch(ReadPlan::Impl const& plan, BatchView const& destination) {
  BatchView batch = destination;
  batch.item = checked_view(plan, destination.item);
  bool const is_packed = destination.item_stride_bytes == 0 && destination.item.band_stride_bytes == 0 &&
                         destination.item.row_stride_bytes == 0 && destination.item.pixel_stride_bytes == 0;
  if (is_packed) { batch.item_stride_bytes = batch.item.bands * batch.item.band_stride_bytes; }
  if (batch.count > 1 && batch.item_stride_bytes == 0) {
    throw Error(ErrorKind::usage,
                text("the destination has ", batch.count, " items at one address: their stride is 0"));
  }
  return batch;
}

// Throws `usage` if the number of destinations differs from the number of windows.
template <class BatchView>
void check_count(std::span<WindowOf const> windows, BatchView const& destination) {
  if (windows.size() != destination.count) {
    throw Error(ErrorKind::usage, text(windows.size(), " windows for ", destination.count, " places"));
  }
}

}  // namespace terrazzo::reading
