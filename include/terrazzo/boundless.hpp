// SPDX-License-Identifier: Apache-2.0
//
// Reads that reach outside the raster. Pixels outside count as missing: with ReadRequest::masked they get the value of
// missing pixels (NaN), otherwise the band's nodata value, or 0 in a band without nodata.
//
//   terrazzo::GridWindow const area = terrazzo::grid_window_of(dem.info(), {499000, 4199000, 501000, 4201000});
//   terrazzo::Array<double> const heights(terrazzo::read_boundless(dem, area, {.masked = true}));  // of an int16 file
#pragma once

#include "terrazzo/coordinates.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)
namespace terrazzo {

// A rectangle of the raster's pixel grid, which goes on outside the raster. Half-open, as Window.
struct GridWindow {
  std::int64_t column = 0, row = 0;
  std::uint32_t width = 0, height = 0;
  friend bool operator==(GridWindow const&, GridWindow const&) = default;
};

// window_of() without clipping. `usage` errors: a box that is empty or not finite, or has more than 2^31 - 1 columns or
// rows, or lies more than 2^53 pixels away.
[[nodiscard]] GridWindow grid_window_of(Info const& info, BoundingBox const& box, std::uint32_t level = 0);

// The part of the window inside the raster, in pixels of `level`; nullopt if there is none.
[[nodiscard]] std::optional<Window> part_inside(Info const& info, GridWindow const& window, std::uint32_t level = 0);

// `window` counts pixels of `request.level`; `request.window` and the request's target must be empty. A window outside
// the raster is valid.
[[nodiscard]] HostArray read_boundless(Dataset const& dataset, GridWindow const& window,
                                       ReadRequest const& request = {}, ReadReport* report = nullptr);

}  // namespace terrazzo
#pragma GCC visibility pop
