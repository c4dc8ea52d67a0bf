// SPDX-License-Identifier: Apache-2.0
//
// The place of a raster on the Earth, for `info`: corners, centre and bounds in its CRS and as longitudes and
// latitudes.
#pragma once

#include "terrazzo/coordinates.hpp"
#include "terrazzo/info.hpp"

#include <optional>

namespace terrazzo::cli {

// Longitudes and latitudes of WGS 84, in degrees.
struct LonLatPlace {
  Corners corners{};  // points that PROJ cannot transform are infinite
  Point center{};
  std::optional<BoundingBox> bounds{};  // of RasterPlace::bounds; xmin > xmax: it crosses the antimeridian
};

struct RasterPlace {
  Corners corners{};
  Point center{};
  BoundingBox bounds{};
  std::optional<LonLatPlace> lon_lat{};  // absent without PROJ, or without a CRS that PROJ can transform
};

// nullopt for a raster without an invertible transform.
[[nodiscard]] std::optional<RasterPlace> place_of(Info const& info);

}  // namespace terrazzo::cli
