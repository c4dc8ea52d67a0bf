// SPDX-License-Identifier: Apache-2.0
//
// Which pixels are valid: from the mask of the level, the alpha band, or nodata. Where that cannot be decoded and bad
// tiles are filled, pixels are invalid; what was found is in the report, as bad tiles of the mask.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// 255 and 0 for each band of the plan. `destination` is uint8 of the plan's shape; `request` is the plan's, without
// transforms.
void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget, ReadReport& report);

// execute_on_host(), and then the plan's missing value in pixels that a mask or an alpha band makes invalid; nodata is
// dealt with on the way. Pixels and masks are one job: one progress, one report.
void execute_masked(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                    MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
