// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "geo/coordinates/box_text.hpp"
#include "geo/coordinates/crs_transform.hpp"
#include "geo/crs/proj_library.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace terrazzo {
namespace {

using geo::CrsTransform;
using geo::ProjSession;

enum class Direction { to_raster, from_raster };

// The last transform of the process. PROJ takes up to 0.2 s to find one, and callers repeat: points and a box of one
// raster, portions of points, many rasters of one CRS. Guarded by the session's lock.
struct LastTransform {
  std::string key{};
  std::optional<CrsTransform> transform{};
};

LastTransform& last_transform(ProjSession const&) {
  static auto* const last = new LastTransform;  // never destroyed, like PROJ's context
  return *last;
}

// Equal only for the same two CRSs in the same direction.
std::string key_of(Info const& info, std::string const& crs, Direction direction) {
  auto const& own = info.georeference.crs;
  if (!own) { return {}; }
  constexpr char kEnd = '\0';  // no CRS has it
  return text(direction == Direction::to_raster ? "to" : "from", kEnd, crs, kEnd, own->epsg.value_or(0), kEnd,
              own->horizontal_epsg.value_or(0), kEnd, own->wkt, kEnd, own->projjson);
}

CrsTransform const& find_transform(Info const& info, std::string const& crs, Direction direction,
                                   ProjSession const& proj) {
  LastTransform& last = last_transform(proj);
  std::string key = key_of(info, crs, direction);
  if (last.transform && !key.empty() && last.key == key) { return *last.transform; }
  auto const other = geo::user_crs(crs, proj);
  auto const own = geo::raster_crs(info, proj);
  bool const inward = direction == Direction::to_raster;
  last.transform.emplace(inward ? other : own, inward ? own : other, proj);
  last.key = std::move(key);
  return *last.transform;
}

// Runs `work(transform, proj)`.
template <class Work>
auto with_transform(Info const& info, std::string const& crs, Direction direction, Work const& work) {
  constexpr char const* kMissing = "coordinates of another CRS need PROJ and its database, which were not found";
  if (geo::proj_api() == nullptr) { throw Error(ErrorKind::unsupported, kMissing); }
  ProjSession const proj;
  if (!proj.has_database()) { throw Error(ErrorKind::unsupported, kMissing); }
  try {
    return work(find_transform(info, crs, direction, proj), proj);
  } catch (Error const& error) { throw error.located({.source = info.source}); }
}

BoundingBox transformed(Info const& info, BoundingBox const& box, std::string const& crs, Direction direction) {
  for (double const value : {box.xmin, box.ymin, box.xmax, box.ymax}) {
    if (!std::isfinite(value)) { throw Error(ErrorKind::usage, "the box " + geo::box_text(box) + " is not finite"); }
  }
  // xmin may be above xmax: longitudes across the antimeridian.
  if (box.xmin == box.xmax || !(box.ymin < box.ymax)) {
    throw Error(ErrorKind::usage, "the box " + geo::box_text(box) +
                                      " is empty: ymin must be below ymax, and xmin not "
                                      "equal to xmax");
  }
  return with_transform(info, crs, direction, [&](CrsTransform const& transform, ProjSession const& proj) {
    return transform.transform(box, proj);
  });
}

std::vector<Point> transformed(Info const& info, std::span<Point const> points, std::string const& crs,
                               Direction direction) {
  std::vector<Point> result(points.begin(), points.end());
  with_transform(info, crs, direction,
                 [&](CrsTransform const& transform, ProjSession const& proj) { transform.transform(result, proj); });
  return result;
}

}  // namespace

BoundingBox bbox_in(Info const& info, BoundingBox const& box, std::string const& crs) {
  return transformed(info, box, crs, Direction::to_raster);
}

BoundingBox bbox_to(Info const& info, BoundingBox const& box, std::string const& crs) {
  return transformed(info, box, crs, Direction::from_raster);
}

std::vector<Point> points_in(Info const& info, std::span<Point const> points, std::string const& crs) {
  return transformed(info, points, crs, Direction::to_raster);
}

std::vector<Point> points_to(Info const& info, std::span<Point const> points, std::string const& crs) {
  return transformed(info, points, crs, Direction::from_raster);
}

}  // namespace terrazzo
