// SPDX-License-Identifier: Apache-2.0
//
// Computes which pixels are valid: from the mask of the level, the alpha band, or nodata. If that source cannot be
// decoded and bad tiles are filled, the pixels are invalid, and the report lists bad tiles of the mask.
#pragma once

#include "base/memory_budget.hpp"
#include "read/plan/plan.hpp"
#include "read/read_job.hpp"
#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::reading {

// The source of a band's validity, unless it is the band's own values.
enum class MaskSource : std::uint8_t { none, image, alpha };
[[nodiscard]] MaskSource source_of(ReadPlan::Impl const& plan, std::uint32_t band);

// The band of the mask image that applies to a band.
[[nodiscard]] std::uint32_t mask_band(ReadPlan::Impl const& plan, std::uint32_t band);

// Makes a band of a mask image, read as bytes, a mask: values of 1 to 7 bits become 0 and 255. Shades of 8 bits stay,
// as in GDAL.
void finish_mask(Level const& level, std::span<std::byte> values) noexcept;

// "mask (IFD 1): ": distinguishes a tile of the mask from the image's tile at the same position.
[[nodiscard]] std::string mask_prefix(Level const& level);

// Writes the mask of each band of the plan: 0 for invalid pixels, 255 or the shade of a mask image for valid ones.
// `destination` is uint8 of the plan's shape; `request` is the plan's, without transforms.
void read_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                MemoryBudget& budget, ReadReport& report);

// Reads the jobs' pixels with the host engine, then writes the plans' missing value to pixels that a mask or an alpha
// band makes invalid; the pixel read itself handles nodata. Pixels and masks are one read: one progress, one report.
void execute_masked(std::span<ReadJob const> jobs, ReadRequest const& request, HostView const& result,
                    MemoryBudget& budget, ReadReport& report);

}  // namespace terrazzo::reading
