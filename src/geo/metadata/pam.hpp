// SPDX-License-Identifier: Apache-2.0
//
// PAM: the .aux.xml file that GDAL and ArcGIS write beside a raster. It has priority over the file's own tags.
#pragma once

#include "geo/transform.hpp"
#include "terrazzo/info.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::geo {

struct PamBand {
  std::optional<Nodata> nodata{};
  std::optional<double> scale{}, offset{};  // both or none
  std::string unit{}, description{};
  std::string color_name{};
  Metadata metadata{};
  BandStatistics statistics{};
  std::vector<ColorEntry> color_table{};
  std::vector<std::string> category_names{};
};

// Control points in the unit of the TIFF resolution tags, rows from the bottom, as ArcGIS writes them ("GeodataXform").
struct PamSourcePoint {
  double across = 0, up = 0;
  double x = 0, y = 0;
};

struct Pam {
  std::optional<Transform> transform{};
  std::string srs{};  // WKT, PROJJSON or "EPSG:4326"
  std::vector<GroundControlPoint> gcps{};
  std::string gcp_srs{};
  std::vector<PamSourcePoint> source_points{};
  Metadata metadata{};
  std::vector<PamBand> bands{};
  bool left_out_names = false;  // attribute tables name more values than kMaxTableNames
};

inline constexpr std::size_t kMaxPamBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxCategories = 1'000'000;
// Category names are listed by pixel value, so one row of an attribute table may make a list of 65,536 names. This
// limits the names of all tables together.
inline constexpr std::size_t kMaxTableNames = std::size_t{1} << 20;

// Returns an empty Pam if the text does not parse or exceeds the limit. `dtypes` are those of the file's bands, and
// their number is the number of bands in the result.
[[nodiscard]] Pam parse_pam(std::string_view xml, std::vector<DType> const& dtypes);

}  // namespace terrazzo::geo
