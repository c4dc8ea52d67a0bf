// SPDX-License-Identifier: Apache-2.0
//
// Encodes a CRS as GeoKeys: by its codes if they suffice, otherwise by its parameters, otherwise as WKT in a citation.
// The inverse of crs.hpp and complete_crs.hpp.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "terrazzo/info.hpp"

#include <string>

namespace terrazzo::geo {

// Fills `keys`. Returns the WKT of a CRS that GDAL cannot read from keys, for a PAM file; empty if the keys suffice.
// Throws the errors of encode_georeference().
[[nodiscard]] std::string encode_crs(Crs const& crs, GeoKeys& keys);

}  // namespace terrazzo::geo
