// SPDX-License-Identifier: Apache-2.0
//
// Reads at another size: chooses the level, and the source pixels of each pixel of the result.
#pragma once

#include "read/open/dataset.hpp"
#include "terrazzo/read.hpp"
#include "tile/reduce_pixel.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace terrazzo::reading {

// A method other than nearest, and the maps from the result to the level. The maps' origin is the window's first pixel.
struct Filter {
  Resampling method = Resampling::average;
  tile::AxisMap columns{}, rows{};
};

// The grid of a result: its size, and the size of the part of full resolution that it shows. The part begins with the
// request's window and ends with it, or reaches a part of a pixel beyond it; or it is `placed` anywhere, and the window
// has the pixels that it touches.
struct ResultGrid {
  TargetSize size{};
  double width = 0, height = 0;  // in pixels of full resolution
  std::optional<TargetGrid> placed{};
};

struct SourcePixels {
  std::uint32_t level = 0;
  Window window{};  // in pixels of that level
  // The pixel of the window (0 is its first) for each pixel of the result; both are empty if the sizes are equal, and
  // with a filter.
  std::vector<std::uint32_t> columns{}, rows{};
  std::optional<Filter> filter{};
};

// By GDAL's rules. The level: the coarsest one that is not coarser than requested, or for nearest at most about 1.2
// times. Nearest: the pixel under the centre of the result's pixel. Other methods: the window has all pixels that they
// use. REQUIRES: a window inside full resolution, a grid that is not empty.
[[nodiscard]] SourcePixels choose_resampling(Dataset::Impl const& dataset, Window const& window, ResultGrid const& grid,
                                             Resampling method);

// The same for a size, by nearest.
[[nodiscard]] SourcePixels choose_resampling(Dataset::Impl const& dataset, Window const& window, TargetSize target);

// Nearest, from a given level. The window is one of full resolution whatever the level.
[[nodiscard]] SourcePixels resample_from(Dataset::Impl const& dataset, std::uint32_t level, Window const& window,
                                         ResultGrid const& grid);

struct PixelRange {
  std::uint32_t first = 0, last = 0;
};

// The pixels of a level of `level_size` that the method uses for `count` pixels of the result.
[[nodiscard]] PixelRange filtered_pixels(Resampling method, tile::AxisMap const& map, std::uint32_t count,
                                         std::uint32_t level_size) noexcept;

}  // namespace terrazzo::reading
