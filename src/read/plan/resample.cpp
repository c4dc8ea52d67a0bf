// SPDX-License-Identifier: Apache-2.0
#include "read/plan/resample.hpp"

#include "tile/reduce_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace terrazzo::reading {

namespace {

// GDAL accepts a level that is up to this much coarser than the request; beyond that, it uses the next finer level. A
// level within kClose of the request ends the search.
[[nodiscard]] double coarser_allowed(Resampling method) noexcept { return method == Resampling::nearest ? 1.2 : 1.0; }
constexpr double kClose = 0.1;

struct Extent {
  double width, height;
};

// The best of the levels from `base` on, for a window of `window` pixels of `base`.
std::uint32_t best_level(Dataset::Impl const& dataset, std::uint32_t base, Extent window, TargetSize target,
                         Resampling method) {
  tiff::Image const& full = dataset.levels[base]->image;
  double const across = window.width / target.width;
  double const down = window.height / target.height;
  double const wanted = across < down || target.height == 1 ? across : down;
  double best = base == 0 ? 0 : 1;  // an .ovr file may begin with a coarse level, whose overviews must be coarser still
  std::uint32_t level = base;
  if (target.width >= window.width && target.height >= window.height) { return level; }
  for (std::uint32_t i = base + 1; i < dataset.levels.size(); ++i) {
    tiff::Image const& image = dataset.levels[i]->image;
    double const ratio = std::min(static_cast<double>(full.width_px) / image.width_px,
                                  static_cast<double>(full.height_px) / image.height_px);
    if (ratio >= wanted * coarser_allowed(method) + kClose || ratio <= best) { continue; }
    best = ratio;
    level = i;
    if (std::abs(wanted - ratio) < kClose) { break; }
  }
  return level;
}

// Converts a length of full resolution to pixels of a level that is `size` pixels long, rounded as in GDAL and clipped
// to the level's end.
std::uint32_t length_on_level(std::uint32_t start, std::uint32_t length, std::uint32_t full, std::uint32_t size) {
  double const ratio = static_cast<double>(full) / size;
  auto const at = std::min(size - 1, static_cast<std::uint32_t>(start / ratio + 0.5));
  return std::clamp(static_cast<std::uint32_t>(length / ratio + 0.5), 1U, size - at);
}

// GDAL treats the first overview of an .ovr file as a raster whose overviews are the other ones. It requests the
// overview's part of the window, in whole pixels, and may choose a coarser overview.
std::uint32_t level_to_read(Dataset::Impl const& dataset, Window const& window, ResultGrid const& grid,
                            Resampling method) {
  std::uint32_t const level = best_level(dataset, 0, {grid.width, grid.height}, grid.size, method);
  bool const is_first_of_file = level > 0 && dataset.levels[level]->source != dataset.levels[level - 1]->source;
  if (!is_first_of_file) { return level; }
  tiff::Image const &full = dataset.levels[0]->image, &image = dataset.levels[level]->image;
  Extent const part = {
      static_cast<double>(length_on_level(window.column, window.width, full.width_px, image.width_px)),
      static_cast<double>(length_on_level(window.row, window.height, full.height_px, image.height_px))};
  return best_level(dataset, level, part, grid.size, method);
}

// The window's extent along one axis on a level `ratio` times coarser: first pixel and length, as doubles, since the
// centre of a result pixel is mapped before rounding.
struct Span {
  double start, length;
};

// `centre(i)` is the middle of result pixel i, in pixels of the level.
template <class Centre>
std::vector<std::uint32_t> pixels_at(std::uint32_t count, std::uint32_t level_size, Centre const& centre) {
  std::vector<std::uint32_t> at(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    // The small offset makes rounding deterministic for a centre that lies exactly on a pixel border.
    at[i] = static_cast<std::uint32_t>(std::clamp(centre(i) + 1e-10, 0.0, level_size - 1.0));
  }
  return at;
}

std::vector<std::uint32_t> nearest(Span const& span, std::uint32_t count, std::uint32_t level_size) {
  return pixels_at(count, level_size, [&](std::uint32_t i) { return span.start + (i + 0.5) * span.length / count; });
}

std::vector<std::uint32_t> nearest(tile::AxisMap const& map, std::uint32_t count, std::uint32_t level_size) {
  return pixels_at(count, level_size, [&](std::uint32_t i) { return map.at(i + 0.5); });
}

struct GridMaps {
  tile::AxisMap columns, rows;
};

// On a level that is smaller by these ratios.
GridMaps maps_of(TargetGrid const& grid, double x_ratio, double y_ratio) {
  return {{grid.column_step / x_ratio, grid.column / x_ratio, grid.first_column, 0},
          {grid.row_step / y_ratio, grid.row / y_ratio, grid.first_row, 0}};
}

// As in GDAL, a window that begins at a whole pixel of the grid that the whole level would have is a part of that grid,
// so that windows give the pixels of the whole.
tile::AxisMap map_of(Span const& span, std::uint32_t count) {
  constexpr double kWhole = 1e-8;
  tile::AxisMap map{span.length / count};
  double const before = span.start / map.ratio, whole = std::floor(before + 0.5);
  if (std::abs(before - whole) < kWhole && whole < std::numeric_limits<std::uint32_t>::max()) {
    map.first = static_cast<std::uint32_t>(whole);
  } else {
    map.shift = span.start;
  }
  return map;
}

// A window whose size on the level is the result's is read without resampling. nullopt for others.
std::optional<PixelRange> same_pixels(std::uint32_t start, double length, std::uint32_t full, std::uint32_t size,
                                      std::uint32_t count) {
  double const ratio = static_cast<double>(full) / size;
  double const pixels = length / ratio;
  auto const at = std::min(size - 1, static_cast<std::uint32_t>(start / ratio + 0.5));
  if (std::abs(pixels - count) >= 0.5 || count > size - at) { return std::nullopt; }
  return PixelRange{at, at + count};
}

}  // namespace

PixelRange filtered_pixels(Resampling method, tile::AxisMap const& map, std::uint32_t count,
                           std::uint32_t level_size) noexcept {
  tile::AxisMap whole = map;
  whole.origin = 0;
  if (tile::is_kernel(method)) {
    double const radius = tile::kernel_radius(method);
    return {tile::kernel_window(0, whole, radius, level_size).first,
            tile::kernel_window(count - 1, whole, radius, level_size).last};
  }
  return {tile::covered_pixels(0, whole, level_size).first, tile::covered_pixels(count - 1, whole, level_size).last};
}

SourcePixels choose_resampling(Dataset::Impl const& dataset, Window const& window, TargetSize target) {
  ResultGrid const grid{target, static_cast<double>(window.width), static_cast<double>(window.height)};
  return choose_resampling(dataset, window, grid, Resampling::nearest);
}

SourcePixels choose_resampling(Dataset::Impl const& dataset, Window const& window, ResultGrid const& grid,
                               Resampling method) {
  TargetSize const target = grid.size;
  SourcePixels result;
  if (!grid.placed && target.width == grid.width && target.height == grid.height) {
    result.window = window;
    return result;
  }
  result.level = level_to_read(dataset, window, grid, method);
  if (method == Resampling::nearest) { return resample_from(dataset, result.level, window, grid); }
  tiff::Image const& full = dataset.levels[0]->image;
  tiff::Image const& image = dataset.levels[result.level]->image;
  if (result.level > 0 && !grid.placed) {
    auto const columns = same_pixels(window.column, grid.width, full.width_px, image.width_px, target.width);
    auto const rows = same_pixels(window.row, grid.height, full.height_px, image.height_px, target.height);
    if (columns && rows) {
      result.window = {columns->first, rows->first, target.width, target.height};
      return result;
    }
  }
  double const x_ratio = static_cast<double>(full.width_px) / image.width_px;
  double const y_ratio = static_cast<double>(full.height_px) / image.height_px;
  GridMaps const maps = grid.placed ? maps_of(*grid.placed, x_ratio, y_ratio)
                                    : GridMaps{map_of({window.column / x_ratio, grid.width / x_ratio}, target.width),
                                               map_of({window.row / y_ratio, grid.height / y_ratio}, target.height)};
  Filter filter{method, maps.columns, maps.rows};
  PixelRange const columns = filtered_pixels(method, filter.columns, target.width, image.width_px);
  PixelRange const rows = filtered_pixels(method, filter.rows, target.height, image.height_px);
  result.window = {columns.first, rows.first, columns.last - columns.first, rows.last - rows.first};
  filter.columns.origin = columns.first;
  filter.rows.origin = rows.first;
  result.filter = filter;
  return result;
}

SourcePixels resample_from(Dataset::Impl const& dataset, std::uint32_t level, Window const& window,
                           ResultGrid const& grid) {
  tiff::Image const& full = dataset.levels[0]->image;
  tiff::Image const& image = dataset.levels[level]->image;
  SourcePixels result;
  result.level = level;
  double const x_ratio = static_cast<double>(full.width_px) / image.width_px;
  double const y_ratio = static_cast<double>(full.height_px) / image.height_px;
  if (grid.placed) {
    GridMaps const maps = maps_of(*grid.placed, x_ratio, y_ratio);
    result.columns = nearest(maps.columns, grid.size.width, image.width_px);
    result.rows = nearest(maps.rows, grid.size.height, image.height_px);
  } else {
    result.columns = nearest(Span{window.column / x_ratio, grid.width / x_ratio}, grid.size.width, image.width_px);
    result.rows = nearest(Span{window.row / y_ratio, grid.height / y_ratio}, grid.size.height, image.height_px);
  }
  std::uint32_t const first_column = result.columns.front(), first_row = result.rows.front();
  result.window = {first_column, first_row, result.columns.back() - first_column + 1,
                   result.rows.back() - first_row + 1};
  for (std::uint32_t& column : result.columns) { column -= first_column; }
  for (std::uint32_t& row : result.rows) { row -= first_row; }
  return result;
}

}  // namespace terrazzo::reading
