// SPDX-License-Identifier: Apache-2.0
//
// Which pixels are valid: from the mask of the level, the alpha band, or nodata.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan.hpp"
#include "terrazzo/read.hpp"

namespace terrazzo::reading {

// 255 and 0 for each band of the plan. `destination` is uint8 of the plan's shape; `request` is the plan's, without
// transforms.
void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget);

// NaN (0 in integers) into pixels that a mask or an alpha band makes invalid; nodata was dealt with on the way.
void apply_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                 MemoryBudget& budget);

}  // namespace terrazzo::reading
