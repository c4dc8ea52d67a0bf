// SPDX-License-Identifier: Apache-2.0
//
// The geometry of a mosaic: its grid, and the pixels of the grid that each input provides. Pixels of the grid are
// counted from the mosaic's first pixel; a position is a double, with whole numbers at the edges of pixels.
#pragma once

#include "terrazzo/read.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace terrazzo::ops {

// The size and the place of an input.
struct Footprint {
  std::array<double, 6> transform{};
  std::uint32_t width = 0, height = 0;
};

struct Grid {
  std::array<double, 6> transform{};
  std::uint32_t width = 0, height = 0;
};

// One axis of an input on the grid.
struct AxisPlace {
  std::int64_t first = 0, end = 0;  // pixels of the grid whose centres lie in the input, inside the mosaic or not
  double scale = 1, offset = 0;  // position p of the grid is position p * scale + offset of the input
  std::uint32_t size = 0;  // of the input

  // True if the input's pixels are those of the grid, moved by whole pixels.
  [[nodiscard]] bool is_shift() const noexcept { return scale == 1; }
  // The input's pixel under the centre of a pixel of the grid. REQUIRES: first <= pixel < end.
  [[nodiscard]] std::uint32_t source_of(std::int64_t pixel) const noexcept;
};

struct GridPlace {
  AxisPlace columns{}, rows{};
};

// An axis whose position p is position p * scale + offset of an input of `size` pixels. Pixels that differ so little
// from those of the grid that the difference stays below 0.01 pixels over the whole input count as the same size.
// Throws `limit` for positions beyond 2^53. REQUIRES: scale > 0.
[[nodiscard]] AxisPlace place_axis(double scale, double offset, std::uint32_t size);

// nullopt if the input is rotated or mirrored against the grid. Both transforms are invertible.
[[nodiscard]] std::optional<GridPlace> place_on(std::array<double, 6> const& grid, Footprint const& input);

// The part of the mosaic that the input provides; empty if it lies outside.
[[nodiscard]] Window target_of(GridPlace const& place, Grid const& grid) noexcept;

// The grid that covers all inputs, with the pixels of the first one, or with pixels of `resolution` from the upper left
// corner on. Throws `limit` if it has more than 2^31 - 1 columns or rows. REQUIRES: inputs that place_on() accepts.
[[nodiscard]] Grid covering_grid(std::span<Footprint const> inputs, std::optional<TargetResolution> const& resolution);

// A rectangle of positions.
struct PixelBox {
  double first_column = 0, first_row = 0, end_column = 0, end_row = 0;
};

// The grid for a box in pixels of the first input: all pixels that the box touches, or pixels of `resolution`.
[[nodiscard]] Grid grid_of_box(Footprint const& first, PixelBox const& box,
                               std::optional<TargetResolution> const& resolution);

// True if every pixel of the grid lies in one of the parts. REQUIRES: parts inside the grid, or empty ones.
[[nodiscard]] bool covers_all(std::span<Window const> parts, Grid const& grid);

}  // namespace terrazzo::ops
