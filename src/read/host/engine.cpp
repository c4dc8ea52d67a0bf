// SPDX-License-Identifier: Apache-2.0
#include "read/host/engine.hpp"

#include "base/thread_pool.hpp"
#include "read/filter/filtered_read.hpp"
#include "read/host/read_context.hpp"
#include "read/host/shared_read.hpp"
#include "read/host/task_queue.hpp"
#include "read/host/worker.hpp"
#include "read/mask.hpp"

#include <optional>

namespace terrazzo::reading {

namespace {

// A single job needs no list of blocks: it works from its plan.
void execute_one(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                 MemoryBudget& budget, ReadReport& report) {
  std::optional<ResultCoverage> coverage;
  if (checks_results()) {
    poison(destination);
    coverage.emplace(plan);
  }
  ReadContext const read(plan, request, destination, budget, coverage ? &*coverage : nullptr);
  TaskQueue job(read);
  run_on_pool(read.threads, [&](unsigned) {
    try {
      HostWorker(read, job).work();
    } catch (...) {
      job.stop();
      throw;
    }
  });
  job.finish(report);
  if (coverage) { coverage->check(); }
}

}  // namespace

void HostEngine::execute(std::span<ReadJob const> jobs, ReadReport& report) {
  if (jobs.empty()) { return; }
  if (jobs.front().plan->filter) {
    for (ReadJob const& job : jobs) { execute_filtered(*job.plan, request_, part_of(result_, job), budget_, report); }
    return;
  }
  if (request_.masked) { return execute_masked(jobs, request_, result_, budget_, report); }
  if (jobs.size() > 1) { return execute_shared(jobs, request_, result_, budget_, report); }
  ReadJob const& job = jobs.front();
  execute_one(*job.plan, request_, part_of(result_, job), budget_, report);
}

void execute_on_this_thread(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                            MemoryBudget& budget, ResultCoverage* coverage, ReadReport& report) {
  ReadContext const read(plan, request, destination, budget, coverage);
  TaskQueue job(read);
  HostWorker(read, job).work();
  job.finish(report);
}

}  // namespace terrazzo::reading
