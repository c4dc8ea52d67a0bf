// SPDX-License-Identifier: Apache-2.0
//
// Computes which pixels are valid: from the mask of the level, the alpha band, or nodata. If that source cannot be
// decoded and bad tiles are filled, the pixels are invalid, and the report lists bad tiles of the mask.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan/plan.hpp"
#include "read/read_job.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::reading {

// The source of a band's validity, unless it is the band's own values.
enum class MaskSource : std::uint8_t { none, image, alpha };
[[nodiscard]] MaskSource source_of(ReadPlan::Impl const& plan, std::uint32_t band);

// The band of the mask image that applies to a band.
[[nodiscard]] std::uint32_t mask_band(ReadPlan::Impl const& plan, std::uint32_t band);

// "mask (IFD 1): ": distinguishes a tile of the mask from the image's tile at the same position.
[[nodiscard]] std::string mask_prefix(Level const& level);

// Writes 255 (valid) or 0 for each band of the plan. `destination` is uint8 of the plan's shape; `request` is the
// plan's, without transforms.
void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget, ReadReport& report);

// Reads the jobs' pixels with the host engine, then writes the plans' missing value to pixels that a mask or an alpha
// band makes invalid; the pixel read itself handles nodata. Pixels and masks are one read: one progress, one report.
void execute_masked(std::span<ReadJob const> jobs, ReadRequest const& request, HostView const& result,
                    MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
