// SPDX-License-Identifier: Apache-2.0
//
// The kind of CRS that an EPSG code names, without PROJ: the key in which a GeoTIFF stores a code depends on it.
#pragma once

#include <cstdint>

namespace terrazzo::geo {

enum class EpsgKind : std::uint8_t {
  unknown,  // not the code of a CRS for a key, or newer than the table
  projected,
  geographic_2d,
  other,  // in three dimensions, geocentric, compound, vertical, engineering
};

[[nodiscard]] EpsgKind epsg_kind(int code) noexcept;

}  // namespace terrazzo::geo
