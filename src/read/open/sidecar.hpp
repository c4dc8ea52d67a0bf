// SPDX-License-Identifier: Apache-2.0
//
// Files beside a raster: dem.tif.aux.xml, dem.tif.ovr, dem.tif.msk, dem.tfw.
#pragma once

#include "geo/describe.hpp"
#include "terrazzo/source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace terrazzo::reading {

// Reads small text files whole; adds the names of those found to `files`. Treats broken or oversized files as absent.
// Their bytes count in `budget`: throws `limit`, with the name of the file.
[[nodiscard]] geo::Sidecars read_text_sidecars(std::string const& path, std::vector<std::string>& files,
                                               MemoryBudget& budget);

// A sidecar that is a TIFF file itself, or null if there is none.
[[nodiscard]] ByteSourcePtr open_sidecar(std::string const& path);

}  // namespace terrazzo::reading
