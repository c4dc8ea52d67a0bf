// SPDX-License-Identifier: Apache-2.0
#include "base/affine.hpp"
#include "base/text.hpp"
#include "geo/coordinates/box_text.hpp"
#include "geo/transform.hpp"
#include "terrazzo/boundless.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace terrazzo {
namespace {

using geo::Transform;

Transform const& transform_in(Info const& info) {
  auto const& transform = info.georeference.transform;
  if (!transform) {
    std::size_t const points = info.georeference.gcps.size();
    throw Error(ErrorKind::usage,
                points == 0 ? "the raster has no transform from pixels to coordinates"
                            : text("the raster has ", points,
                                   " ground control points, but no transform from pixels to "
                                   "coordinates; warp it first"),
                {.source = info.source});
  }
  if (!is_invertible(*transform)) {
    throw Error(ErrorKind::usage, "the raster's transform from pixels to coordinates cannot be inverted",
                {.source = info.source});
  }
  return *transform;
}

struct Size {
  std::uint32_t width, height;
};

struct Range {
  std::uint32_t first = 0, count = 0;
};

// The part of [first, first + count) inside [0, size).
Range inside(std::int64_t first, std::uint32_t count, std::uint32_t size) noexcept {
  std::int64_t const begin = std::clamp<std::int64_t>(first, 0, size);
  // An end beyond 63 bits is beyond the raster too.
  std::int64_t const end = first > std::int64_t{size} ? begin : std::clamp<std::int64_t>(first + count, begin, size);
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
}

Size size_of(Info const& info, std::uint32_t level) {
  if (level == 0) { return {info.width, info.height}; }
  if (level > info.overviews.size()) {
    throw Error(ErrorKind::usage,
                text("there is no level ", level, ": the raster has ", info.overviews.size(), " overviews"),
                {.source = info.source});
  }
  OverviewInfo const& overview = info.overviews[level - 1];
  return {overview.width, overview.height};
}

// All levels cover the same area.
Transform transform_of_level(Info const& info, Size const& size) {
  Transform t = transform_in(info);
  if (size.width == info.width && size.height == info.height) { return t; }
  double const column_step = static_cast<double>(info.width) / size.width;
  double const row_step = static_cast<double>(info.height) / size.height;
  t[1] *= column_step;
  t[4] *= column_step;
  t[2] *= row_step;
  t[5] *= row_step;
  return t;
}

Point apply(Transform const& t, Pixel const& pixel) noexcept {
  return {t[0] + pixel.column * t[1] + pixel.row * t[2], t[3] + pixel.column * t[4] + pixel.row * t[5]};
}

Pixel invert(Transform const& t, Point const& point) noexcept {
  auto const [column, row] = pixel_step(t, point.x - t[0], point.y - t[3]);
  return {column, row};
}

// A box in pixels. Numbers may be infinite, but are not NaN.
struct PixelBox {
  double first_column, first_row, end_column, end_row;
};

// The whole pixels that the box touches, inside the raster or not.
PixelBox touched_pixels(Info const& info, Transform const& t, BoundingBox const& box) {
  auto const refuse = [&](std::string const& reason) {
    throw Error(ErrorKind::usage, "the box " + geo::box_text(box) + ' ' + reason, {.source = info.source});
  };
  for (double const value : {box.xmin, box.ymin, box.xmax, box.ymax}) {
    if (!std::isfinite(value)) { refuse("is not finite"); }
  }
  if (box.xmin > box.xmax) {
    refuse("is empty: xmin is above xmax; split a box that crosses the antimeridian into two boxes");
  }
  if (is_empty(box)) { refuse("is empty: xmin must be below xmax, and ymin below ymax"); }
  std::array const corners = {invert(t, {box.xmin, box.ymin}), invert(t, {box.xmin, box.ymax}),
                              invert(t, {box.xmax, box.ymin}), invert(t, {box.xmax, box.ymax})};
  PixelBox all{corners[0].column, corners[0].row, corners[0].column, corners[0].row};
  for (Pixel const& corner : corners) {
    if (std::isnan(corner.column) || std::isnan(corner.row)) { refuse("is too large for the raster's transform"); }
    all = {std::min(all.first_column, corner.column), std::min(all.first_row, corner.row),
           std::max(all.end_column, corner.column), std::max(all.end_row, corner.row)};
  }
  all = {std::floor(snapped(all.first_column)), std::floor(snapped(all.first_row)), std::ceil(snapped(all.end_column)),
         std::ceil(snapped(all.end_row))};
  // A box that is thinner than the tolerance and lies on an edge touches one pixel.
  all.end_column = std::max(all.end_column, all.first_column + 1);
  all.end_row = std::max(all.end_row, all.first_row + 1);
  return all;
}

}  // namespace

Corners corners(Info const& info) {
  Transform const& t = transform_in(info);
  double const width = info.width, height = info.height;
  return {apply(t, {0, 0}), apply(t, {0, height}), apply(t, {width, 0}), apply(t, {width, height})};
}

Point center(Info const& info) { return apply(transform_in(info), {info.width / 2.0, info.height / 2.0}); }

TargetResolution pixel_size(Info const& info) {
  PixelSides const sides = pixel_sides(transform_in(info));
  return {sides.along_row, sides.along_column};
}

BoundingBox bounds(Info const& info) {
  Corners const c = corners(info);
  auto const [xmin, xmax] = std::minmax({c.upper_left.x, c.lower_left.x, c.upper_right.x, c.lower_right.x});
  auto const [ymin, ymax] = std::minmax({c.upper_left.y, c.lower_left.y, c.upper_right.y, c.lower_right.y});
  return {xmin, ymin, xmax, ymax};
}

Point to_world(Info const& info, Pixel const& pixel) { return apply(transform_in(info), pixel); }

Pixel to_pixel(Info const& info, Point const& point) { return invert(transform_in(info), point); }

std::vector<Point> to_world(Info const& info, std::span<Pixel const> pixels) {
  Transform const& t = transform_in(info);
  std::vector<Point> points(pixels.size());
  std::ranges::transform(pixels, points.begin(), [&](Pixel const& pixel) { return apply(t, pixel); });
  return points;
}

std::vector<Pixel> to_pixel(Info const& info, std::span<Point const> points) {
  Transform const& t = transform_in(info);
  std::vector<Pixel> pixels(points.size());
  std::ranges::transform(points, pixels.begin(), [&](Point const& point) { return invert(t, point); });
  return pixels;
}

Window window_of(Info const& info, BoundingBox const& box, std::uint32_t level) {
  Size const size = size_of(info, level);
  PixelBox const touched = touched_pixels(info, transform_of_level(info, size), box);
  double const column = std::max(touched.first_column, 0.0), row = std::max(touched.first_row, 0.0);
  double const end_column = std::min<double>(touched.end_column, size.width);
  double const end_row = std::min<double>(touched.end_row, size.height);
  if (!(column < end_column && row < end_row)) {
    throw Error(
        ErrorKind::usage,
        "the box " + geo::box_text(box) + " lies outside the raster, which covers " + geo::box_text(bounds(info)),
        {.source = info.source});
  }
  return {static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(row),
          static_cast<std::uint32_t>(end_column - column), static_cast<std::uint32_t>(end_row - row)};
}

GridWindow grid_window_of(Info const& info, BoundingBox const& box, std::uint32_t level) {
  constexpr double kMostPixels = 2147483647;
  constexpr double kFarthest = 9007199254740992;  // 2^53: whole numbers of a double
  PixelBox const touched = touched_pixels(info, transform_of_level(info, size_of(info, level)), box);
  double const width = touched.end_column - touched.first_column, height = touched.end_row - touched.first_row;
  if (!(width <= kMostPixels && height <= kMostPixels && std::abs(touched.first_column) <= kFarthest &&
        std::abs(touched.first_row) <= kFarthest)) {
    throw Error(ErrorKind::usage,
                "the box " + geo::box_text(box) + " is too large, or too far from the raster, which covers " +
                    geo::box_text(bounds(info)),
                {.source = info.source});
  }
  return {static_cast<std::int64_t>(touched.first_column), static_cast<std::int64_t>(touched.first_row),
          static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

std::optional<Window> part_inside(Info const& info, GridWindow const& window, std::uint32_t level) {
  Size const size = size_of(info, level);
  Range const columns = inside(window.column, window.width, size.width);
  Range const rows = inside(window.row, window.height, size.height);
  if (columns.count == 0 || rows.count == 0) { return std::nullopt; }
  return Window{columns.first, rows.first, columns.count, rows.count};
}

bool covers(Info const& info, BoundingBox const& box) {
  PixelBox const touched = touched_pixels(info, transform_in(info), box);
  return touched.first_column >= 0 && touched.first_row >= 0 && touched.end_column <= info.width &&
         touched.end_row <= info.height;
}

std::array<double, 6> transform_of(Info const& info, Window const& window, std::uint32_t level) {
  Transform t = transform_of_level(info, size_of(info, level));
  Point const origin = apply(t, {static_cast<double>(window.column), static_cast<double>(window.row)});
  t[0] = origin.x;
  t[3] = origin.y;
  return t;
}

}  // namespace terrazzo
