// SPDX-License-Identifier: Apache-2.0
#include "commands/raster_place.hpp"

#include "terrazzo/error.hpp"

#include <array>
#include <vector>

namespace terrazzo::cli {
namespace {

// Not OGC:CRS84: for it, PROJ 9.1 prefers shifts of other authorities than EPSG, and NAD 83 moves by a metre.
constexpr char kLonLat[] = "EPSG:4326";

// `work()`, or nullopt if the raster does not allow it: that is no error of `info`.
template <class Work>
auto if_possible(Work const& work) -> std::optional<decltype(work())> {
  try {
    return work();
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::unsupported) { throw; }
    return std::nullopt;
  }
}

std::optional<LonLatPlace> lon_lat_of(Info const& info, RasterPlace const& place) {
  if (!info.georeference.crs) { return std::nullopt; }
  Corners const& c = place.corners;
  std::array const own = {c.upper_left, c.lower_left, c.upper_right, c.lower_right, place.center};
  auto const points = if_possible([&] { return points_to(info, own, kLonLat); });
  if (!points) { return std::nullopt; }
  auto const& p = *points;
  return LonLatPlace{.corners = {p[0], p[1], p[2], p[3]}, .center = p[4], .bounds = if_possible([&] {
                                                                            return bbox_to(info, place.bounds, kLonLat);
                                                                          })};
}

}  // namespace

std::optional<RasterPlace> place_of(Info const& info) {
  if (!info.georeference.transform) { return std::nullopt; }
  auto place = if_possible(
      [&] { return RasterPlace{.corners = corners(info), .center = center(info), .bounds = bounds(info)}; });
  if (place) { place->lon_lat = lon_lat_of(info, *place); }
  return place;
}

}  // namespace terrazzo::cli
