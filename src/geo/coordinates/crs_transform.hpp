// SPDX-License-Identifier: Apache-2.0
//
// Transforms coordinates from one CRS to another with PROJ. Axes are x (east) and y (north), for any axis order of the
// CRSs. Vertical parts of a CRS are ignored.
#pragma once

#include "geo/crs/proj_library.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/info.hpp"

#include <span>
#include <string>

namespace terrazzo::geo {

// The CRS that a user typed. Throws `usage` if PROJ does not understand it or must not see it (crs_text.hpp).
[[nodiscard]] PjPtr user_crs(std::string const& text, ProjSession const& proj);

// The CRS of a raster, from its code or its WKT. Throws `usage` if it has none that PROJ understands.
[[nodiscard]] PjPtr raster_crs(Info const& info, ProjSession const& proj);

// Needs a session for every call and for its destruction; sessions may differ.
class CrsTransform {
 public:
  // Throws `usage` if PROJ knows no transformation between the two.
  CrsTransform(PjPtr const& from, PjPtr const& to, ProjSession const& proj);

  // In place. Points that cannot be transformed become infinite.
  void transform(std::span<Point> points, ProjSession const& proj) const;

  // By points on the edges (coordinates.hpp). Throws `usage` if none of them can be transformed, `unsupported` if PROJ
  // is older than 8.2.
  [[nodiscard]] BoundingBox transform(BoundingBox const& box, ProjSession const& proj) const;

 private:
  PjPtr operation_;
};

}  // namespace terrazzo::geo
