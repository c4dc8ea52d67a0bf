// SPDX-License-Identifier: Apache-2.0
#include "base/affine.hpp"
#include "ops/convert/band_statistics.hpp"
#include "ops/convert/framed_rows.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <cstdint>

namespace terrazzo {
namespace {

struct Sides {
  std::uint32_t before = 0, after = 0;
};

// Pixels of [area_first, area_first + area_count) on both sides of [first, first + count).
Sides around(std::int64_t area_first, std::uint32_t area_count, std::uint32_t first, std::uint32_t count) {
  // The comparisons of 64 bits cannot overflow: first and the counts have 32 bits.
  bool const begins_outside = area_first < std::int64_t{first} - area_count || area_first > std::int64_t{first};
  std::int64_t const before = begins_outside ? 0 : first - area_first;
  if (begins_outside || before + count > area_count) {
    throw Error(ErrorKind::usage, "the window of the read lies outside the area of the conversion");
  }
  return {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(area_count - before - count)};
}

}  // namespace

void extend_to(ConvertSetup& setup, GridWindow const& area) {
  auto& [write, read, margins] = setup;
  if (!read.window || read.has_target()) {
    throw Error(ErrorKind::usage, "a conversion beyond the raster's edges has a window inside it, and no target");
  }
  Window const& inside = *read.window;
  Sides const columns = around(area.column, area.width, inside.column, inside.width);
  Sides const rows = around(area.row, area.height, inside.row, inside.height);
  margins = {columns.before, rows.before, columns.after, rows.after};
  if (margins == Margins{}) { return; }
  if (!ops::marks_missing_pixels(write)) { write.mask = true; }
  Georeference& place = write.georeference;
  if (place.transform) {
    place.transform =
        moved(*place.transform, -static_cast<double>(margins.left), -static_cast<double>(margins.top), 1, 1);
  }
  for (GroundControlPoint& point : place.gcps) {
    point.column += margins.left;
    point.row += margins.top;
  }
  place.rpc.clear();  // valid for the whole raster only
  for (BandInfo& band : write.band_info) { ops::drop_statistics(band); }
}

}  // namespace terrazzo
