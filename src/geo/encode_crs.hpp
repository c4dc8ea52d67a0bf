// SPDX-License-Identifier: Apache-2.0
//
// A CRS as GeoKeys: by its codes where they say all, else by its parameters, else as WKT in a citation. The inverse of
// crs.hpp and complete_crs.hpp.
#pragma once

#include "geo/geokeys.hpp"
#include "terrazzo/info.hpp"

#include <string>

namespace terrazzo::geo {

// Fills `keys`. Returns the WKT of a CRS that GDAL cannot read from keys, for a PAM file; empty when they say all.
// Throws as encode_georeference() does.
[[nodiscard]] std::string encode_crs(Crs const& crs, GeoKeys& keys);

}  // namespace terrazzo::geo
