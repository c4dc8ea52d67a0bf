// SPDX-License-Identifier: Apache-2.0
//
// Reading at another size: which level serves, and which of its pixels is behind each pixel of the result.
#pragma once

#include "read/dataset.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <vector>

namespace terrazzo::reading {

struct Resampling {
  std::uint32_t level = 0;
  Window window{};                     // in pixels of that level
  // Pixel of the window (0 is its first) behind each pixel of the result; both empty when the sizes are equal.
  std::vector<std::uint32_t> columns{}, rows{};
};

// Nearest neighbour, by GDAL's rules: the coarsest level that is not much more than 1.2 times coarser than asked for,
// and the pixel under the centre of the result's. REQUIRES: a window inside full resolution, a target that is not
// empty.
[[nodiscard]] Resampling choose_resampling(Dataset::Impl const& dataset, Window const& window, TargetSize target);

// The same from a given level. The window is one of full resolution whatever the level.
[[nodiscard]] Resampling resample_from(Dataset::Impl const& dataset, std::uint32_t level, Window const& window,
                                       TargetSize target);

}  // namespace terrazzo::reading
