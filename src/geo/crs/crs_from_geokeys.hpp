// SPDX-License-Identifier: Apache-2.0
//
// A CRS from GeoKeys, as a PROJ object: from its code if that is sufficient, otherwise from the parameters in the keys.
#pragma once

#include "geo/crs/crs.hpp"
#include "geo/crs/geokeys.hpp"
#include "geo/crs/proj_library.hpp"

#include <string>

namespace terrazzo::geo {

struct CrsFromGeoKeys {
  PjPtr crs{};  // null if the keys define none that PROJ understands
  int epsg = 0;  // the code in the keys, if their parameters do not contradict it
  bool contradictory = false;  // a geographic code and parameters that contradict it: neither is reliable
  std::string vertical_unit{};  // the name of the unit of heights, empty without a vertical part
  int unknown_code = 0;  // a code in the keys that PROJ does not have
  bool stand_in = false;  // and no other key defines it: `crs` is not the CRS of the file
};

[[nodiscard]] CrsFromGeoKeys crs_from_keys(GeoKeys const& keys, ProjSession const& proj);

}  // namespace terrazzo::geo
