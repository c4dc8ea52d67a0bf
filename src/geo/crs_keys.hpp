// SPDX-License-Identifier: Apache-2.0
//
// A CRS that PROJ knows -> GeoKeys. The inverse of keyed_crs.hpp, and checked with it: what the keys are read as is the
// CRS they were made from, or they are not used.
#pragma once

#include "geo/geokeys.hpp"
#include "geo/proj_library.hpp"

#include <optional>

namespace terrazzo::geo {

// Codes where they say all, else parameters. `hint` is a code that the CRS may have, 0 for none. nullopt when no keys
// say it, or when it is of a kind that GeoTIFF does not know.
[[nodiscard]] std::optional<GeoKeys> keys_from_crs(PjPtr const& crs, int hint, ProjSession const& proj);

// The same place on Earth for the same coordinates, as far as rasters go: the order of axes and names do not count.
[[nodiscard]] bool is_same_crs(PjPtr const& a, PjPtr const& b, ProjSession const& proj);

}  // namespace terrazzo::geo
