// SPDX-License-Identifier: Apache-2.0
//
// The one door to this folder for readers: what tags and sidecar files say about a raster, apart from its pixels.
// Costs microseconds; PROJ is not touched (see crs.hpp).
#pragma once

#include "base/memory_budget.hpp"
#include "geo/crs.hpp"
#include "terrazzo/info.hpp"
#include "tiff/directory.hpp"

#include <optional>
#include <string>

namespace terrazzo::geo {

// Contents of the files beside a raster; the reader finds them (see world_file_names() in transform.hpp).
struct Sidecars {
  std::optional<std::string> pam_xml{};     // dem.tif.aux.xml
  std::optional<std::string> world_file{};  // dem.tfw, dem.tifw, dem.wld
  std::optional<std::string> esri_xml{};    // dem.xml: ArcGIS metadata, asked for a CRS that nothing else gives
};

// Fills info.georeference, info.metadata and, of each band, color, nodata, scale, offset, unit, description, metadata,
// statistics, colour table and category names; adds to info.warnings. Returns what complete_crs() needs.
// Sources in GDAL's default order: PAM, the file's tags, the world file.
// What it holds counts in `budget`, before it is made: a `limit` error says which document or tag is too large.
// REQUIRES: info.width, height and layout set; info.bands sized, with dtype and bits.
CrsDefinition describe(tiff::Directory const& dir, Sidecars const& sidecars, Info& info, MemoryBudget& budget);

}  // namespace terrazzo::geo
