// SPDX-License-Identifier: Apache-2.0
#include "read/resample.hpp"

#include <algorithm>
#include <cmath>

namespace terrazzo::reading {

namespace {

// GDAL takes a level that is up to this much coarser than the request, and the next finer one beyond. One that is
// within kClose of the request ends the search.
constexpr double kCoarserAllowed = 1.2, kClose = 0.1;

struct Extent {
  std::uint32_t width, height;
};

// Of the levels from `base` on, for a window of that many pixels of `base`.
std::uint32_t best_level(Dataset::Impl const& dataset, std::uint32_t base, Extent window, TargetSize target) {
  tiff::Image const& full = dataset.levels[base]->image;
  double const across = static_cast<double>(window.width) / target.width;
  double const down = static_cast<double>(window.height) / target.height;
  double const wanted = across < down || target.height == 1 ? across : down;
  double best = base == 0 ? 0 : 1;  // an .ovr file may begin with a coarse one, which has no finer ones for overviews
  std::uint32_t level = base;
  if (target.width >= window.width && target.height >= window.height) { return level; }
  for (std::uint32_t i = base + 1; i < dataset.levels.size(); ++i) {
    tiff::Image const& image = dataset.levels[i]->image;
    double const ratio = std::min(static_cast<double>(full.width_px) / image.width_px,
                                  static_cast<double>(full.height_px) / image.height_px);
    if (ratio >= wanted * kCoarserAllowed + kClose || ratio <= best) { continue; }
    best = ratio;
    level = i;
    if (std::abs(wanted - ratio) < kClose) { break; }
  }
  return level;
}

// A length of full resolution in pixels of a level that is `size` of them long, rounded as GDAL does: what lies beyond
// its end is not of it.
std::uint32_t length_on_level(std::uint32_t start, std::uint32_t length, std::uint32_t full, std::uint32_t size) {
  double const ratio = static_cast<double>(full) / size;
  auto const at = std::min(size - 1, static_cast<std::uint32_t>(start / ratio + 0.5));
  return std::clamp(static_cast<std::uint32_t>(length / ratio + 0.5), 1U, size - at);
}

// The first overview of an .ovr file is, to GDAL, a raster that has the others for overviews. It is asked for its part
// of the window, in whole pixels, and may choose one of them.
std::uint32_t level_to_read(Dataset::Impl const& dataset, Window const& window, TargetSize target) {
  std::uint32_t const level = best_level(dataset, 0, {window.width, window.height}, target);
  bool const is_first_of_file = level > 0 && dataset.levels[level]->source != dataset.levels[level - 1]->source;
  if (!is_first_of_file) { return level; }
  tiff::Image const &full = dataset.levels[0]->image, &image = dataset.levels[level]->image;
  Extent const part = {length_on_level(window.column, window.width, full.width_px, image.width_px),
                       length_on_level(window.row, window.height, full.height_px, image.height_px)};
  return best_level(dataset, level, part, target);
}

// The window's extent along one axis on a level `ratio` times coarser: first pixel and length, as doubles, since the
// centre of a result pixel is looked up before anything is rounded.
struct Span {
  double start, length;
};

std::vector<std::uint32_t> nearest(Span const& span, std::uint32_t count, std::uint32_t level_size) {
  std::vector<std::uint32_t> at(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    // The small push keeps a centre that falls exactly on a pixel border from going either way by rounding.
    double const centre = span.start + (i + 0.5) * span.length / count + 1e-10;
    at[i] = static_cast<std::uint32_t>(std::clamp(centre, 0.0, level_size - 1.0));
  }
  return at;
}

}  // namespace

Resampling choose_resampling(Dataset::Impl const& dataset, Window const& window, TargetSize target) {
  if (target.width == window.width && target.height == window.height) {
    Resampling as_it_is;
    as_it_is.window = window;
    return as_it_is;
  }
  return resample_from(dataset, level_to_read(dataset, window, target), window, target);
}

Resampling resample_from(Dataset::Impl const& dataset, std::uint32_t level, Window const& window, TargetSize target) {
  tiff::Image const& full = dataset.levels[0]->image;
  tiff::Image const& image = dataset.levels[level]->image;
  Resampling result;
  result.level = level;
  double const x_ratio = static_cast<double>(full.width_px) / image.width_px;
  double const y_ratio = static_cast<double>(full.height_px) / image.height_px;
  result.columns = nearest({window.column / x_ratio, window.width / x_ratio}, target.width, image.width_px);
  result.rows = nearest({window.row / y_ratio, window.height / y_ratio}, target.height, image.height_px);
  std::uint32_t const first_column = result.columns.front(), first_row = result.rows.front();
  result.window = {first_column, first_row, result.columns.back() - first_column + 1,
                   result.rows.back() - first_row + 1};
  for (std::uint32_t& column : result.columns) { column -= first_column; }
  for (std::uint32_t& row : result.rows) { row -= first_row; }
  return result;
}

}  // namespace terrazzo::reading
