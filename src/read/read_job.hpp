// SPDX-License-Identifier: Apache-2.0
//
// Every public read is a list of jobs, and an engine executes the list: the host's threads (host/engine.hpp) or a GPU
// (device/engine.hpp). An engine has the result's memory and strides; a job has its window and the offset of its part
// of the result.
#pragma once

#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::reading {

// One window and its destination.
struct ReadJob {
  std::shared_ptr<ReadPlan::Impl const> plan;
  std::int64_t destination_offset_bytes = 0;  // from the first sample of the result to the first sample of the plan
};

// The job's part of a result. View: HostView or DeviceView.
template <class View>
[[nodiscard]] View part_of(View const& result, ReadJob const& job) {
  View part = result;
  part.data = static_cast<std::byte*>(result.data) + job.destination_offset_bytes;
  part.height = job.plan->out_height;
  part.width = job.plan->out_width;
  return part;
}

class ReadEngine {
 public:
  ReadEngine() = default;
  ReadEngine(ReadEngine const&) = delete;
  ReadEngine& operator=(ReadEngine const&) = delete;
  virtual ~ReadEngine() = default;

  // Reads every job; on return the pixels are complete. The jobs have the result's bands and dtype, and their
  // destinations do not overlap. A block that several jobs use is decoded once. Adds the outcome of the blocks to
  // `report`, also if it throws an error.
  virtual void execute(std::span<ReadJob const> jobs, ReadReport& report) = 0;
};

}  // namespace terrazzo::reading
