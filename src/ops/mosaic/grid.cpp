// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/grid.hpp"

#include "base/affine.hpp"
#include "base/text.hpp"
#include "ops/mosaic/column_cover.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace terrazzo::ops {
namespace {

constexpr double kSamePixels = 0.01;  // a shift of less than this over a whole input is none
constexpr double kFarthest = 9007199254740992;  // 2^53: whole numbers of a double
constexpr double kMostPixels = 2147483647;

[[noreturn]] void refuse_size(double width, double height) {
  throw Error(ErrorKind::limit, text("the mosaic would have ", width, " x ", height,
                                     " pixels, more than 2147483647 columns or rows; choose larger pixels, or bounds"));
}

std::int64_t whole(double position) {
  if (!(std::abs(position) <= kFarthest)) {
    throw Error(ErrorKind::limit, "an input lies more than 2^53 pixels away from the first input");
  }
  return static_cast<std::int64_t>(position);
}

// The first pixel whose centre lies at the position or beyond it.
std::int64_t first_centre(double position) { return whole(std::ceil(snapped(position - 0.5))); }

struct Range {
  double first, end;
};

// An axis of the input, in positions of the grid.
Range extent_of(AxisPlace const& place) {
  return {-place.offset / place.scale, (place.size - place.offset) / place.scale};
}

std::uint32_t length(std::int64_t first, std::int64_t end) noexcept {
  return first < end ? static_cast<std::uint32_t>(end - first) : 0;
}

GridPlace placed(std::array<double, 6> const& grid, Footprint const& input) {
  std::optional<GridPlace> const place = place_on(grid, input);
  if (!place) { throw Error(ErrorKind::usage, "an input is rotated or mirrored against the grid"); }
  return *place;
}

Grid make_grid(Footprint const& first, PixelBox const& box, double x_scale, double y_scale) {
  double const width = std::ceil(snapped((box.end_column - box.first_column) / x_scale));
  double const height = std::ceil(snapped((box.end_row - box.first_row) / y_scale));
  if (!(width <= kMostPixels && height <= kMostPixels)) { refuse_size(width, height); }
  // A box that is thinner than the tolerance touches one pixel.
  return {moved(first.transform, box.first_column, box.first_row, x_scale, y_scale),
          static_cast<std::uint32_t>(std::max(width, 1.0)), static_cast<std::uint32_t>(std::max(height, 1.0))};
}

Grid make_grid(Footprint const& first, PixelBox const& box, TargetResolution const& resolution) {
  auto const [x, y] = resolution;
  if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y))) {
    throw Error(ErrorKind::usage, "the resolution of a mosaic must be above 0");
  }
  auto const& t = first.transform;
  double const pixel_x = std::sqrt(t[1] * t[1] + t[4] * t[4]), pixel_y = std::sqrt(t[2] * t[2] + t[5] * t[5]);
  return make_grid(first, box, x / pixel_x, y / pixel_y);
}

}  // namespace

std::uint32_t AxisPlace::source_of(std::int64_t pixel) const noexcept {
  if (is_shift()) { return static_cast<std::uint32_t>(pixel + static_cast<std::int64_t>(offset)); }
  double const position = std::floor(snapped((static_cast<double>(pixel) + 0.5) * scale + offset));
  // A centre on the input's last edge, within the tolerance, is inside.
  return static_cast<std::uint32_t>(std::clamp(position, 0.0, size - 1.0));
}

AxisPlace place_axis(double scale, double offset, std::uint32_t size) {
  AxisPlace place{.scale = scale, .offset = offset, .size = size};
  if (std::abs(scale - 1) * size < kSamePixels) {
    place.scale = 1;
    std::int64_t const shift = whole(std::floor(snapped(offset + 0.5)));
    place.offset = static_cast<double>(shift);
    place.first = -shift;
    place.end = place.first + size;
    return place;
  }
  Range const extent = extent_of(place);
  place.first = first_centre(extent.first);
  place.end = std::max(place.first, first_centre(extent.end));
  return place;
}

std::optional<GridPlace> place_on(std::array<double, 6> const& grid, Footprint const& input) {
  auto const& t = input.transform;
  auto const [columns_per_column, rows_per_column] = pixel_step(t, grid[1], grid[4]);
  auto const [columns_per_row, rows_per_row] = pixel_step(t, grid[2], grid[5]);
  bool const is_upright = columns_per_column > 0 && rows_per_row > 0;
  bool const is_straight = std::abs(columns_per_row) * input.height <= kSamePixels * rows_per_row &&
                           std::abs(rows_per_column) * input.width <= kSamePixels * columns_per_column;
  if (!is_upright || !is_straight) { return std::nullopt; }
  auto const [column, row] = pixel_step(t, grid[0] - t[0], grid[3] - t[3]);
  return GridPlace{place_axis(columns_per_column, column, input.width), place_axis(rows_per_row, row, input.height)};
}

Window target_of(GridPlace const& place, Grid const& grid) noexcept {
  auto const inside = [](std::int64_t pixel, std::uint32_t size) { return std::clamp<std::int64_t>(pixel, 0, size); };
  std::int64_t const column = inside(place.columns.first, grid.width), row = inside(place.rows.first, grid.height);
  Window const target{static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row),
                      length(column, inside(place.columns.end, grid.width)),
                      length(row, inside(place.rows.end, grid.height))};
  return is_empty(target) ? Window{} : target;
}

Grid covering_grid(std::span<Footprint const> inputs, std::optional<TargetResolution> const& resolution) {
  Footprint const& first = inputs.front();
  PixelBox box{0, 0, static_cast<double>(first.width), static_cast<double>(first.height)};
  for (Footprint const& input : inputs) {
    auto const [columns, rows] = placed(first.transform, input);
    Range across = extent_of(columns), down = extent_of(rows);
    if (!resolution) {
      // Whole pixels of the grid. An input whose pixels are so small that no centre lies in it adds none.
      if (columns.first == columns.end || rows.first == rows.end) { continue; }
      across = {static_cast<double>(columns.first), static_cast<double>(columns.end)};
      down = {static_cast<double>(rows.first), static_cast<double>(rows.end)};
    }
    box = {std::min(box.first_column, across.first), std::min(box.first_row, down.first),
           std::max(box.end_column, across.end), std::max(box.end_row, down.end)};
  }
  return resolution ? make_grid(first, box, *resolution) : make_grid(first, box, 1, 1);
}

Grid grid_of_box(Footprint const& first, PixelBox const& box, std::optional<TargetResolution> const& resolution) {
  if (resolution) { return make_grid(first, box, *resolution); }
  PixelBox const touched{std::floor(snapped(box.first_column)), std::floor(snapped(box.first_row)),
                         std::ceil(snapped(box.end_column)), std::ceil(snapped(box.end_row))};
  return make_grid(first, touched, 1, 1);
}

bool covers_all(std::span<Window const> parts, Grid const& grid) {
  struct Change {
    std::uint64_t row;
    bool begins;
    Window part;
  };
  std::vector<Change> changes;
  std::vector<std::uint64_t> columns{0, grid.width};
  for (Window const& part : parts) {
    if (is_empty(part)) { continue; }
    columns.insert(columns.end(), {part.column, std::uint64_t{part.column} + part.width});
    changes.push_back({part.row, true, part});
    changes.push_back({std::uint64_t{part.row} + part.height, false, part});
  }
  std::ranges::sort(changes, {}, &Change::row);
  ColumnCover cover(std::move(columns));
  // Between the rows of two neighbouring changes all rows are alike.
  std::uint64_t row = 0;
  for (auto const& [at, begins, part] : changes) {
    if (at > row && !cover.is_complete()) { return false; }
    row = at;
    std::uint64_t const end = std::uint64_t{part.column} + part.width;
    begins ? cover.add(part.column, end) : cover.take_away(part.column, end);
  }
  return row == grid.height;
}

}  // namespace terrazzo::ops
