// SPDX-License-Identifier: Apache-2.0
//
// The entry point of this folder for readers: describes a raster from its tags and sidecar files. Costs microseconds;
// does not use PROJ (see crs.hpp).
#pragma once

#include "base/memory_budget.hpp"
#include "geo/crs/crs.hpp"
#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"

#include <optional>
#include <string>

namespace terrazzo::geo {

// Contents of the files beside a raster; the reader finds them (see world_file_names() in transform.hpp).
struct Sidecars {
  std::optional<std::string> pam_xml{};     // dem.tif.aux.xml
  std::optional<std::string> world_file{};  // dem.tfw, dem.tifw, dem.wld
  std::optional<std::string> esri_xml{};    // dem.xml: ArcGIS metadata, used for a CRS that no other source gives
};

// Fills info.georeference, info.metadata and, of each band, color, nodata, scale, offset, unit, description, metadata,
// statistics, colour table and category names; adds to info.warnings. Returns the input of complete_crs(). Sources in
// GDAL's default order: PAM, the file's tags, the world file. Its memory is charged to `budget` first: a `limit` error
// names the document or tag that is too large.
// REQUIRES: info.width, height and layout set; info.bands sized, with dtype and bits.
CrsDefinition describe(tiff::Directory const& dir, Sidecars const& sidecars, Info& info, MemoryBudget& budget);

}  // namespace terrazzo::geo
