// SPDX-License-Identifier: Apache-2.0
//
// A CRS out of GeoKeys, as a PROJ object: from its code where the code says all, else from the parameters in the keys.
#pragma once

#include "geo/crs.hpp"
#include "geo/geokeys.hpp"
#include "geo/proj_library.hpp"

#include <string>

namespace terrazzo::geo {

struct KeyedCrs {
  PjPtr crs{};                    // null when the keys give none that PROJ understands
  int epsg = 0;                   // the code that the keys name, when their parameters do not contradict it
  bool contradictory = false;     // a geographic code and parameters that are not its own: neither is to be believed
  std::string vertical_unit{};    // the name of the unit of heights, empty without a vertical part
  int unknown_code = 0;           // one that the keys name and PROJ does not know
  bool stand_in = false;          // and no other key says what it means: `crs` is not the CRS of the file
};

[[nodiscard]] KeyedCrs crs_from_keys(GeoKeys const& keys, ProjSession const& proj);

}  // namespace terrazzo::geo
