// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/encode_crs.hpp"

#include "base/text.hpp"
#include "geo/crs/crs_text.hpp"
#include "geo/crs/epsg_kinds.hpp"
#include "geo/crs/geokeys_from_crs.hpp"
#include "geo/crs/proj_library.hpp"
#include "terrazzo/error.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

constexpr int kModelProjected = 1, kModelGeographic = 2, kModelGeocentric = 3;
constexpr int kWgs84 = 4326, kWgs84Ellipsoidal = 4979;
constexpr std::string_view kCitationMarker = "ESRI PE String = ";
constexpr std::size_t kMaxGdalCitationBytes = 2399;  // GDAL reads no more of this key
constexpr std::size_t kMaxCitationBytes = 60000;      // keys address 64 KiB of text

// Stores one code in its key; returns false if PROJ is needed.
bool add_code(int code, Kind kind, GeoKeys& keys) {
  switch (epsg_kind(code)) {
    case EpsgKind::projected:
      keys.set_code(key::GTModelType, kModelProjected);
      keys.set_code(key::ProjectedCRS, code);
      return true;
    case EpsgKind::geographic_2d:
      keys.set_code(key::GTModelType, kModelGeographic);
      keys.set_code(key::GeodeticCRS, code);
      return true;
    case EpsgKind::other:
      if (kind != Kind::geocentric) { return false; }
      keys.set_code(key::GTModelType, kModelGeocentric);
      keys.set_code(key::GeodeticCRS, code);
      return true;
    case EpsgKind::unknown: break;
  }
  // Newer than the table: uses the kind from the source file.
  if (code <= 0 || code >= kUserDefined) { return false; }
  int const model = kind == Kind::projected    ? kModelProjected
                    : kind == Kind::geographic ? kModelGeographic
                    : kind == Kind::geocentric ? kModelGeocentric
                                               : 0;
  if (model == 0) { return false; }
  keys.set_code(key::GTModelType, model);
  keys.set_code(model == kModelProjected ? key::ProjectedCRS : key::GeodeticCRS, code);
  return true;
}

// The keys of a CRS of which only codes are known.
std::optional<GeoKeys> keys_from_codes(Crs const& crs) {
  GeoKeys keys;
  keys.set_revision_1_0(true);
  int horizontal = crs.horizontal_epsg.value_or(0), vertical = crs.vertical_epsg.value_or(0);
  // The code of the whole CRS equals that of the horizontal part: heights are not part of the CRS.
  if (horizontal == 0 || vertical == 0 || crs.epsg == horizontal) {
    horizontal = crs.epsg.value_or(horizontal);
    vertical = 0;
    if (horizontal == kWgs84Ellipsoidal) {
      horizontal = kWgs84;
      vertical = kWgs84Ellipsoidal;
    }
  }
  if (!add_code(horizontal, crs.kind, keys)) { return std::nullopt; }
  if (vertical != 0) {
    auto const kind = epsg_kind(vertical);
    bool const newer = kind == EpsgKind::unknown && vertical > 0 && vertical < kUserDefined;
    if (kind != EpsgKind::other && !newer) { return std::nullopt; }
    keys.set_revision_1_0(false);
    keys.set_code(key::Vertical, vertical);
  }
  return keys;
}

// WKT that PROJ reads as the same CRS, in the most widely supported notation; empty if there is none of at most
// `max_bytes`.
std::string exact_wkt(PjPtr const& crs, std::size_t max_bytes, ProjSession const& proj) {
  bool const compound = proj.api().proj_get_type(crs.get()) == PJ_TYPE_COMPOUND_CRS;
  for (auto const type : {PJ_WKT1_ESRI, PJ_WKT1_GDAL, PJ_WKT2_2019}) {
    if (compound && type == PJ_WKT1_ESRI) { continue; }  // GDAL reads only the first of two elements there
    std::string wkt = proj.wkt(crs, type);
    if (wkt.empty() || wkt.size() > max_bytes) { continue; }
    PjPtr const read = proj.create(wkt);
    if (read && proj.api().proj_is_equivalent_to(read.get(), crs.get(), PJ_COMP_EQUIVALENT) != 0) { return wkt; }
  }
  return {};
}

std::string encode_object(PjPtr const& crs, int hint, ProjSession const& proj, GeoKeys& keys) {
  if (auto found = keys_from_crs(crs, hint, proj)) {
    keys = *std::move(found);
    return {};
  }
  // In a citation, where GDAL and ArcGIS expect it. A text too long for GDAL is still written there for other readers.
  std::string wkt = exact_wkt(crs, kMaxGdalCitationBytes - kCitationMarker.size(), proj);
  bool const fits = !wkt.empty();
  if (!fits) { wkt = exact_wkt(crs, kMaxCitationBytes, proj); }
  if (wkt.empty()) { return proj.wkt(crs, PJ_WKT2_2019); }
  bool const compound = proj.api().proj_get_type(crs.get()) == PJ_TYPE_COMPOUND_CRS;
  keys.set_revision_1_0(!compound);  // GDAL ignores the vertical part in files of the first revision
  keys.set_code(key::GTModelType, kUserDefined);
  if (fits) { keys.set_text(key::GTCitation, proj.name(crs)); }
  keys.set_text(key::ProjectedCitation, std::string(kCitationMarker) + wkt);
  return fits ? std::string() : proj.wkt(crs, PJ_WKT2_2019);
}

// Encodes a CRS without a code or a definition of its own.
std::string encode_parts(Crs const& crs, GeoKeys& keys) {
  if (crs.horizontal_epsg && crs.vertical_epsg) {
    throw Error(ErrorKind::usage,
                text("there is no CRS of EPSG:", *crs.horizontal_epsg, " and EPSG:", *crs.vertical_epsg));
  }
  if (crs.kind != Kind::local) { throw Error(ErrorKind::usage, "the CRS has neither a code nor WKT nor PROJJSON"); }
  keys.set_code(key::GTModelType, kUserDefined);
  if (!crs.name.empty()) { keys.set_text(key::GTCitation, crs.name); }
  return {};
}

}  // namespace

std::string encode_crs(Crs const& crs, GeoKeys& keys) {
  std::string const& definition = crs.projjson.empty() ? crs.wkt : crs.projjson;
  auto by_codes = keys_from_codes(crs);
  // The name is for readers that do not support the codes.
  if (by_codes && !crs.name.empty()) { by_codes->set_text(key::GTCitation, crs.name); }
  if (by_codes && (definition.empty() || proj_api() == nullptr)) {
    keys = *std::move(by_codes);
    return {};
  }
  if (definition.empty() && !crs.epsg) { return encode_parts(crs, keys); }
  if (proj_api() != nullptr) {
    ProjSession const proj;
    if (proj.has_database()) {
      PjPtr const object =
          definition.empty() ? proj.from_epsg(*crs.epsg, PJ_CATEGORY_CRS) : proj.create_typed(definition);
      if (object) { return encode_object(object, crs.epsg.value_or(0), proj, keys); }
      throw Error(
          ErrorKind::usage,
          definition.empty()
              ? text("PROJ knows no CRS EPSG:", *crs.epsg, "; give another code, WKT or PROJJSON")
              : text("PROJ does not understand the CRS ", quoted_crs_text(definition),
                     "; give EPSG:CODE, WKT, PROJJSON, the exact name of a CRS or a PROJ string without +init"));
    }
  }
  if (by_codes) {
    keys = *std::move(by_codes);
    return {};
  }
  throw Error(ErrorKind::unsupported, "this CRS can be written only with PROJ and its database, which were not found");
}

}  // namespace terrazzo::geo
