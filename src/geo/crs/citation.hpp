// SPDX-License-Identifier: Apache-2.0
//
// Citations: text keys for people, in which GDAL, ArcGIS and Imagine store names, units and even whole CRS definitions.
#pragma once

#include <string>
#include <string_view>

namespace terrazzo::geo {

// "PCS Name = NAD83 / Oregon|Datum = D_NAD83|": parts that the citation lacks are empty.
struct Citation {
  std::string projected_name{}, geographic_name{}, datum{}, ellipsoid{}, prime_meridian{}, angular_units{},
      linear_units{};
  bool structured = false;  // at least one part was named; otherwise the citation is plain text
};
[[nodiscard]] Citation parse_citation(std::string_view text);

// Plain text without the copyright lines of ERDAS Imagine, on one line.
[[nodiscard]] std::string clean_citation(std::string_view text);

// The WKT after "ESRI PE String = ", or empty.
[[nodiscard]] std::string_view esri_wkt(std::string_view citation);

}  // namespace terrazzo::geo
