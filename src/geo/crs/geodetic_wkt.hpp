// SPDX-License-Identifier: Apache-2.0
//
// The geographic part of a CRS: GeoKeys 2048 to 2062 -> GEOGCS of WKT 1.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "geo/crs/proj_library.hpp"

#include <string>
#include <string_view>

namespace terrazzo::geo {

struct UnitOfMeasure {
  std::string name{};
  double factor = 1;  // metres or radians
  int epsg = 0;
  [[nodiscard]] std::string wkt() const;  // UNIT["metre",1,AUTHORITY["EPSG","9001"]]
};

struct GeodeticWkt {
  std::string wkt{};
  std::string datum{};          // the DATUM element alone, with the PRIMEM element: the parts of a geocentric CRS
  UnitOfMeasure unit{};         // unit of its angles
  int epsg = 0;                 // the code of key 2048 if the other keys agree with it
  PjPtr official{};  // PROJ's object for the code, also if other keys disagree; null if it has none
};

// Uses `fallback_epsg` if key 2048 is absent: the geographic CRS of a projected one.
[[nodiscard]] GeodeticWkt geodetic_wkt(GeoKeys const& keys, int fallback_epsg, ProjSession const& proj);

// A quoted WKT string; quotes inside are doubled.
[[nodiscard]] std::string wkt_string(std::string_view text);

// From a code, or from a size if the code means "user-defined"; `otherwise` if neither is given.
[[nodiscard]] UnitOfMeasure unit_of_measure(int code, double size, UnitOfMeasure const& otherwise,
                                            ProjSession const& proj);

}  // namespace terrazzo::geo
