// SPDX-License-Identifier: Apache-2.0
//
// Count, extremes, mean and spread of the valid pixels of one block, band by band. Merged in the order of blocks, they
// give the same statistics for any number of threads.
#pragma once

#include "base/moments.hpp"
#include "write/overviews/reduction.hpp"
#include "write/plan/file_plan.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace terrazzo::writing {

// `samples` come from BlockCutter; `rows` hold the block's mask. Excludes NaN, nodata, masked pixels and the padding of
// an edge block. Of complex samples, the real part counts, as in GDAL.
[[nodiscard]] std::vector<Moments> block_moments(FilePlan const& plan, LevelPlan const& level,
                                                 ConstHostRows const& rows, TileId block,
                                                 std::span<std::byte const> samples);

}  // namespace terrazzo::writing
