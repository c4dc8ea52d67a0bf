// SPDX-License-Identifier: Apache-2.0
#include "geo/coordinates/crs_transform.hpp"

#include "geo/coordinates/box_text.hpp"
#include "geo/crs/crs_text.hpp"
#include "terrazzo/error.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace terrazzo::geo {
namespace {

constexpr int kPointsPerEdge = 21;  // as in GDAL and rasterio

// The CRS without heights: grids for heights may be missing, and horizontal results do not need them.
PjPtr horizontal_part(PjPtr crs, ProjSession const& proj) {
  ProjApi const& api = proj.api();
  if (crs && api.proj_get_type(crs.get()) == PJ_TYPE_COMPOUND_CRS) {
    crs = proj.adopt(api.proj_crs_get_sub_crs(proj.context(), crs.get(), 0));
  }
  if (!crs) { return nullptr; }
  PjPtr flat = proj.adopt(api.proj_crs_demote_to_2D(proj.context(), nullptr, crs.get()));
  return flat ? std::move(flat) : std::move(crs);
}

// Codes come first: PROJ selects better transformations for a registered CRS.
PjPtr make_raster_crs(Crs const& crs, ProjSession const& proj) {
  for (auto const& code : {crs.epsg, crs.horizontal_epsg}) {
    PjPtr made = code ? proj.from_epsg(*code, PJ_CATEGORY_CRS) : nullptr;
    if (made) { return made; }
  }
  for (std::string const* const definition : {&crs.wkt, &crs.projjson}) {
    PjPtr made = is_crs_definition(*definition) ? proj.create(*definition) : nullptr;
    if (made) { return made; }
  }
  return nullptr;
}

}  // namespace

PjPtr user_crs(std::string const& text, ProjSession const& proj) {
  PjPtr crs = horizontal_part(proj.create_typed(text), proj);
  if (!crs) {
    throw Error(ErrorKind::usage,
                "PROJ does not understand the CRS " + quoted_crs_text(text) +
                    "; give EPSG:CODE, WKT, PROJJSON, the exact name of a CRS or a PROJ string without +init");
  }
  return crs;
}

PjPtr raster_crs(Info const& info, ProjSession const& proj) {
  auto const& crs = info.georeference.crs;
  if (!crs) {
    throw Error(ErrorKind::usage, "the raster has no CRS: coordinates of another CRS cannot be transformed",
                {.source = info.source});
  }
  PjPtr made = horizontal_part(make_raster_crs(*crs, proj), proj);
  if (!made) {
    throw Error(ErrorKind::usage, "the raster's CRS has no definition that PROJ understands", {.source = info.source});
  }
  return made;
}

CrsTransform::CrsTransform(PjPtr const& from, PjPtr const& to, ProjSession const& proj) {
  ProjApi const& api = proj.api();
  PjPtr const found =
      proj.adopt(api.proj_create_crs_to_crs_from_pj(proj.context(), from.get(), to.get(), nullptr, nullptr));
  if (found) { operation_ = proj.adopt(api.proj_normalize_for_visualization(proj.context(), found.get())); }
  if (!operation_) {
    throw Error(ErrorKind::usage,
                "PROJ knows no transformation from \"" + proj.name(from) + "\" to \"" + proj.name(to) + '"');
  }
}

void CrsTransform::transform(std::span<Point> points, ProjSession const& proj) const {
  if (points.empty()) { return; }
  std::size_t const stride = sizeof(Point), count = points.size();
  proj.api().proj_errno_reset(operation_.get());  // of a call before
  proj.api().proj_trans_generic(operation_.get(), PJ_FWD, &points[0].x, stride, count, &points[0].y, stride, count,
                                nullptr, 0, 0, nullptr, 0, 0);
  constexpr double kFailed = std::numeric_limits<double>::infinity();
  for (Point& point : points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) { point = {kFailed, kFailed}; }
  }
}

BoundingBox CrsTransform::transform(BoundingBox const& box, ProjSession const& proj) const {
  ProjApi const& api = proj.api();
  if (api.proj_trans_bounds == nullptr) {
    throw Error(ErrorKind::unsupported, "boxes of another CRS need PROJ 8.2 or newer; the installed PROJ is older");
  }
  if (box.xmin > box.xmax && api.proj_degree_input(operation_.get(), PJ_FWD) == 0) {
    throw Error(ErrorKind::usage, "the box " + box_text(box) +
                                      " is empty: xmin is above xmax, which has a meaning only "
                                      "for longitudes");
  }
  BoundingBox result;
  api.proj_errno_reset(operation_.get());  // of a call before
  int const done =
      api.proj_trans_bounds(proj.context(), operation_.get(), PJ_FWD, box.xmin, box.ymin, box.xmax, box.ymax,
                            &result.xmin, &result.ymin, &result.xmax, &result.ymax, kPointsPerEdge);
  bool finite = done != 0;
  for (double const value : {result.xmin, result.ymin, result.xmax, result.ymax}) {
    finite = finite && std::isfinite(value);
  }
  if (!finite) {
    throw Error(ErrorKind::usage, "the box " + box_text(box) + " cannot be transformed to the other CRS");
  }
  return result;
}

}  // namespace terrazzo::geo
