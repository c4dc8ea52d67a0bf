// SPDX-License-Identifier: Apache-2.0
//
// The GeoKey directory (tags 34735 to 34737, OGC 19-008r4): the keys by which a GeoTIFF names or defines its CRS. This
// header does not interpret keys. A directory that contradicts itself is rejected completely, as in GDAL: half of a CRS
// definition is worse than none.
#pragma once

#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace terrazzo::geo {

// Key numbers, named as in the specification (GeoTIFF 1.1 names where they changed).
namespace key {
inline constexpr std::uint16_t GTModelType = 1024, GTRasterType = 1025, GTCitation = 1026, GeodeticCRS = 2048,
                               GeodeticCitation = 2049, GeodeticDatum = 2050, PrimeMeridian = 2051,
                               GeogLinearUnits = 2052, GeogLinearUnitSize = 2053, GeogAngularUnits = 2054,
                               GeogAngularUnitSize = 2055, Ellipsoid = 2056, EllipsoidSemiMajorAxis = 2057,
                               EllipsoidSemiMinorAxis = 2058, EllipsoidInvFlattening = 2059, GeogAzimuthUnits = 2060,
                               PrimeMeridianLongitude = 2061, GeogTOWGS84 = 2062, ProjectedCRS = 3072,
                               ProjectedCitation = 3073, Projection = 3074, ProjMethod = 3075, ProjLinearUnits = 3076,
                               ProjLinearUnitSize = 3077, ProjStdParallel1 = 3078, ProjStdParallel2 = 3079,
                               ProjNatOriginLong = 3080, ProjNatOriginLat = 3081, ProjFalseEasting = 3082,
                               ProjFalseNorthing = 3083, ProjFalseOriginLong = 3084, ProjFalseOriginLat = 3085,
                               ProjFalseOriginEasting = 3086, ProjFalseOriginNorthing = 3087, ProjCenterLong = 3088,
                               ProjCenterLat = 3089, ProjCenterEasting = 3090, ProjCenterNorthing = 3091,
                               ProjScaleAtNatOrigin = 3092, ProjScaleAtCenter = 3093, ProjAzimuthAngle = 3094,
                               ProjStraightVertPoleLong = 3095, ProjRectifiedGridAngle = 3096, Vertical = 4096,
                               VerticalCitation = 4097, VerticalDatum = 4098, VerticalUnits = 4099,
                               CoordinateEpoch = 5120;
}  // namespace key

inline constexpr int kUserDefined = 32767;  // "see the other keys"

class GeoKeys {
 public:
  // nullopt if the file has no keys, or if they are broken, in which case `broken` is set.
  struct Result;
  [[nodiscard]] static Result read(tiff::Directory const& dir);

  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] bool has(std::uint16_t key) const noexcept { return values_.contains(key); }

  // The directory has revision 1.0: GeoTIFF of 1995, not the OGC standard.
  [[nodiscard]] bool is_revision_1_0() const noexcept { return revision_1_0_; }

  // Values by key; nullopt if absent or stored as another type.
  [[nodiscard]] std::optional<std::uint16_t> code(std::uint16_t key) const;
  [[nodiscard]] std::optional<double> number(std::uint16_t key) const;
  [[nodiscard]] std::vector<double> numbers(std::uint16_t key) const;
  [[nodiscard]] std::string const* text(std::uint16_t key) const;  // null if absent

  // For writers.
  void set_code(std::uint16_t key, int code) { values_[key] = std::vector{static_cast<std::uint16_t>(code)}; }
  void set_numbers(std::uint16_t key, std::vector<double> values) { values_[key] = std::move(values); }
  void set_number(std::uint16_t key, double value) { set_numbers(key, {value}); }
  void set_text(std::uint16_t key, std::string text) { values_[key] = std::move(text); }
  void set_revision_1_0(bool revision_1_0) noexcept { revision_1_0_ = revision_1_0; }

  // Writes the three tags; geokeys_writer.cpp. Throws `limit` if the texts exceed the range of a directory.
  void write(tiff::TagSet& tags) const;

  friend bool operator==(GeoKeys const&, GeoKeys const&) = default;

 private:
  using Value = std::variant<std::vector<std::uint16_t>, std::vector<double>, std::string>;
  std::map<std::uint16_t, Value> values_;
  bool revision_1_0_ = false;
};

struct GeoKeys::Result {
  std::optional<GeoKeys> keys{};
  bool broken = false;
};

}  // namespace terrazzo::geo
