// SPDX-License-Identifier: Apache-2.0
//
// Files that lie beside a raster: dem.tif.aux.xml, dem.tif.ovr, dem.tif.msk, dem.tfw.
#pragma once

#include "base/byte_source.hpp"
#include "geo/describe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace terrazzo::reading {

// Small text files, read whole; `files` gets the names of those found. Broken or oversized ones count as absent.
// Their bytes count in `budget`: throws `limit`, naming the file.
[[nodiscard]] geo::Sidecars read_text_sidecars(std::string const& path, std::vector<std::string>& files,
                                               MemoryBudget& budget);

// A sidecar that is a TIFF file itself, or null when there is none.
[[nodiscard]] ByteSourcePtr open_sidecar(std::string const& path);

}  // namespace terrazzo::reading
