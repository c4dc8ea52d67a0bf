// SPDX-License-Identifier: Apache-2.0
//
// Count, extremes, mean and spread of the valid pixels of one block, band by band. Merged in the order of blocks they
// give the same statistics whatever the threads.
#pragma once

#include "base/moments.hpp"
#include "write/file_plan.hpp"
#include "write/reduce.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace terrazzo::writing {

// `samples` are the block's, as BlockCutter gives them; `rows` hold its mask. NaN, nodata and masked pixels are left
// out, and so is what pads an edge block. Of complex samples the real part counts, as in GDAL.
[[nodiscard]] std::vector<Moments> block_moments(FilePlan const& plan, LevelPlan const& level, LevelRows const& rows,
                                                 TileId block, std::span<std::byte const> samples);

}  // namespace terrazzo::writing
