// SPDX-License-Identifier: Apache-2.0
//
// The CRS of a file, in two steps. describe_crs() reads codes and names without PROJ: microseconds. complete_crs()
// (complete_crs.hpp) gets the rest from PROJ: WKT, PROJJSON, official names, the code of a CRS that is defined by its
// parameters, and whether the parameters agree with the code.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "terrazzo/info.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// The CRS as stored in a file and its sidecars; keep it for complete_crs().
struct CrsDefinition {
  std::string text{};             // WKT, PROJJSON or "EPSG:4326", from a sidecar or a citation: precedes the keys
  std::optional<GeoKeys> keys{};
  [[nodiscard]] bool empty() const noexcept { return text.empty() && !keys; }
  // The same text or keys. Different definitions may define one CRS: same_crs().
  friend bool operator==(CrsDefinition const&, CrsDefinition const&) = default;
};

// nullopt if the file defines no CRS.
[[nodiscard]] std::optional<Crs> describe_crs(CrsDefinition const& definition);

// The keys that decide how a CRS is built; user-defined or absent codes are 0.
struct CrsCodes {
  Crs::Kind kind = Crs::Kind::local;  // projected, geographic, geocentric or local
  int projected = 0, geodetic = 0;
  int vertical = 0, vertical_datum = 0, vertical_units = 0;
  // GDAL omits the vertical part for files of the first GeoTIFF specification.
  bool reports_vertical = false;

  [[nodiscard]] bool has_vertical() const noexcept {
    return vertical != 0 || vertical_datum != 0 || vertical_units != 0;
  }
};
[[nodiscard]] CrsCodes crs_codes(GeoKeys const& keys);

// The value of the vertical datum key for heights above the ellipsoid of WGS 84.
inline constexpr int kWgs84AsVerticalDatum = 6030;

// GDAL's name of the unit of length (EPSG codes 9001 to 9003) for heights; empty for others.
[[nodiscard]] std::string_view length_unit_name(int code) noexcept;

}  // namespace terrazzo::geo
