// SPDX-License-Identifier: Apache-2.0
#include "read/host_engine.hpp"

#include "base/thread_pool.hpp"
#include "read/host_job.hpp"
#include "read/host_read.hpp"
#include "read/host_worker.hpp"
#include "read/result_coverage.hpp"

#include <optional>

namespace terrazzo::reading {

void execute_on_host(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                     MemoryBudget& budget, ReadReport& report) {
  std::optional<ResultCoverage> coverage;
  if (checks_results()) {
    poison(destination);
    coverage.emplace(plan);
  }
  HostRead const read(plan, request, destination, budget, coverage ? &*coverage : nullptr);
  HostJob job(read);
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

}  // namespace terrazzo::reading
