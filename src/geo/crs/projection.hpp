// SPDX-License-Identifier: Apache-2.0
//
// Projections defined by their parameters: GeoKeys <-> the PROJECTION and PARAMETER elements of WKT 1.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "geo/crs/wkt.hpp"

#include <optional>
#include <string>

namespace terrazzo::geo {

struct ProjectionWkt {
  std::string projection{};  // PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],...
  std::string axes{};        // AXIS["Easting",EAST],AXIS["Northing",NORTH]
};

// The projection of key 3075 and its parameters. Angles are in the angular unit of the geographic CRS and lengths in
// the unit of the projected CRS, both in the keys and in WKT 1, so values pass unchanged. nullopt if the key is absent
// or its method is not implemented.
[[nodiscard]] std::optional<ProjectionWkt> projection_wkt(GeoKeys const& keys);

// The inverse: method and parameters of a PROJCS element, under the keys that GDAL writes. Returns false if the method
// has no number in GeoTIFF, or a parameter has no key.
bool projection_keys(WktNode const& projcs, GeoKeys& keys);

}  // namespace terrazzo::geo
