// SPDX-License-Identifier: Apache-2.0
//
// Executes jobs on the host's threads. Each worker takes blocks in order, reads and decodes them in its own scratch and
// writes its rectangles of the result; there is no whole-file buffer. Results are independent of the number of threads.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan/plan.hpp"
#include "read/read_job.hpp"
#include "read/result_coverage.hpp"
#include "terrazzo/read.hpp"

#include <span>

namespace terrazzo::reading {

class HostEngine final : public ReadEngine {
 public:
  // `result` has the strides of every job's part. Uses only masked, bad_tile, strict, threads (for several jobs),
  // progress and cancel of the request. All arguments outlive this object.
  HostEngine(ReadRequest const& request, HostView const& result, MemoryBudget& budget)
      : request_(request), result_(result), budget_(budget) {}

  // An exception of the progress function stops the other workers and is rethrown unchanged.
  void execute(std::span<ReadJob const> jobs, ReadReport& report) override;

 private:
  ReadRequest const& request_;
  HostView result_;
  MemoryBudget& budget_;
};

// Executes one job on the calling thread only. `coverage` may be null. Adds to the report.
void execute_on_this_thread(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                            MemoryBudget& budget, ResultCoverage* coverage, ReadReport& report);

}  // namespace terrazzo::reading
