// SPDX-License-Identifier: Apache-2.0
//
// Executes a plan on the host's threads. Each worker takes blocks in order, reads and decodes them in scratch of its
// own and writes its rectangle of the result; there is no whole-file buffer. Results do not depend on the threads.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// `destination` has the plan's bands, size and dtype. Only bad_tile, strict, progress and cancel of the request count.
// What the plan's blocks came to is added to `report`. An exception of the progress function stops the other workers
// and is thrown on as it is.
void execute_on_host(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                     MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
