// SPDX-License-Identifier: Apache-2.0
//
// Converts a CRS that PROJ supports to GeoKeys. The inverse of crs_from_geokeys.hpp, and checked with it: the keys are
// used only if they are read back as the same CRS.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "geo/crs/proj_library.hpp"

#include <optional>

namespace terrazzo::geo {

// Uses codes if they suffice, otherwise parameters. `hint` is a code that the CRS may have, 0 for none. nullopt if keys
// cannot express the CRS, or if GeoTIFF does not support its kind.
[[nodiscard]] std::optional<GeoKeys> keys_from_crs(PjPtr const& crs, int hint, ProjSession const& proj);

// True if the same coordinates are the same place on Earth, with raster precision: axis order and names are ignored.
[[nodiscard]] bool is_same_crs(PjPtr const& a, PjPtr const& b, ProjSession const& proj);

}  // namespace terrazzo::geo
