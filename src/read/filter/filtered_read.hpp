// SPDX-License-Identifier: Apache-2.0
//
// Reads with a filter (plan.filter): the reducers of overviews make the result from rows of the level. Source rows are
// in memory a strip at a time; the pool's threads decode a strip, then reduce it. Pixels are resampled in the stored
// type and converted afterwards.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan/plan.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// Writes the pixels; with `request.masked`, also the missing value where a mask or alpha leaves none.
void execute_filtered(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                      MemoryBudget& budget, ReadReport& report);

// Writes 255 where a band has a pixel, 0 elsewhere. `destination` is uint8 of the plan's shape.
void execute_filtered_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                            MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
