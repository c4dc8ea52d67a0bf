// SPDX-License-Identifier: Apache-2.0
//
// The geographic part of a CRS: GeoKeys 2048 to 2062 -> GEOGCS of WKT 1.
#pragma once

#include "geo/geokeys.hpp"
#include "geo/proj_library.hpp"

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
  std::string datum{};          // the DATUM element alone, with the PRIMEM element: what a geocentric CRS is made of
  UnitOfMeasure unit{};         // of its angles
  int epsg = 0;                 // the code of key 2048 when the other keys agree with it
  PjPtr official{};  // what PROJ has of the code, whether other keys agree or not; null when it has nothing
};

// `fallback_epsg` is used when key 2048 is absent: the geographic CRS under a projected one.
[[nodiscard]] GeodeticWkt geodetic_wkt(GeoKeys const& keys, int fallback_epsg, ProjSession const& proj);

// A quoted WKT string; quotes inside are doubled.
[[nodiscard]] std::string wkt_string(std::string_view text);

// Of a code, or of a size when the code says that it has none; `otherwise` when neither tells.
[[nodiscard]] UnitOfMeasure unit_of_measure(int code, double size, UnitOfMeasure const& otherwise,
                                            ProjSession const& proj);

}  // namespace terrazzo::geo
