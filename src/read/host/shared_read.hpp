// SPDX-License-Identifier: Apache-2.0
//
// Executes many jobs on the host's threads. Workers take distinct blocks, not jobs: a block is read and decoded once
// and placed into every window that uses a part of it.
#pragma once

#include "base/memory_budget.hpp"
#include "read/read_job.hpp"
#include "terrazzo/read.hpp"

#include <span>

namespace terrazzo::reading {

// Like HostEngine::execute(), without masks. The error of a block names the window of the first job that uses it. Of
// several errors, the one of the first job is thrown. Progress counts a block once for each job that uses it.
void execute_shared(std::span<ReadJob const> jobs, ReadRequest const& request, HostView const& result,
                    MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
