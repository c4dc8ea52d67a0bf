// SPDX-License-Identifier: Apache-2.0
//
// Projections given by their parameters: GeoKeys <-> the PROJECTION and PARAMETER elements of WKT 1.
#pragma once

#include "geo/geokeys.hpp"
#include "geo/wkt.hpp"

#include <optional>
#include <string>

namespace terrazzo::geo {

struct ProjectionWkt {
  std::string projection{};  // PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],...
  std::string axes{};        // AXIS["Easting",EAST],AXIS["Northing",NORTH]
};

// The projection of key 3075 and its parameters. Angles are in the angular unit of the geographic CRS and lengths in
// the unit of the projected CRS, both in the keys and in WKT 1, so values pass unchanged. nullopt when the key is
// absent or its method is one that nobody implements.
[[nodiscard]] std::optional<ProjectionWkt> projection_wkt(GeoKeys const& keys);

// The inverse: method and parameters of a PROJCS element, under the keys in which GDAL writes them. False when the
// method has no number in GeoTIFF, or a parameter no key.
bool projection_keys(WktNode const& projcs, GeoKeys& keys);

}  // namespace terrazzo::geo
