// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/complete_crs.hpp"

#include "base/text.hpp"
#include "geo/crs/crs_from_geokeys.hpp"
#include "geo/crs/crs_text.hpp"

#include <optional>
#include <string>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

constexpr int kMinConfidence = 70;  // per cent; rasterio's threshold

Kind kind_of(PjPtr const& crs, ProjSession const& proj) {
  auto const& api = proj.api();
  switch (api.proj_get_type(crs.get())) {
    case PJ_TYPE_PROJECTED_CRS: return Kind::projected;
    case PJ_TYPE_GEOGRAPHIC_2D_CRS:
    case PJ_TYPE_GEOGRAPHIC_3D_CRS: return Kind::geographic;
    case PJ_TYPE_GEOCENTRIC_CRS: return Kind::geocentric;
    case PJ_TYPE_COMPOUND_CRS: return Kind::compound;
    case PJ_TYPE_VERTICAL_CRS: return Kind::vertical;
    case PJ_TYPE_ENGINEERING_CRS: return Kind::local;
    case PJ_TYPE_BOUND_CRS: {
      PjPtr const source = proj.adopt(api.proj_get_source_crs(proj.context(), crs.get()));
      return source && api.proj_get_type(source.get()) != PJ_TYPE_BOUND_CRS ? kind_of(source, proj) : Kind::unknown;
    }
    default: return Kind::unknown;
  }
}

// Sets the codes of the parts. Skips a code that the file names but contradicts.
void set_part_codes(PjPtr const& object, ProjSession const& proj, Crs& crs) {
  auto const code = [&](int value) { return value == 0 ? std::nullopt : std::optional(value); };
  if (crs.kind == Kind::compound) {
    auto const part = [&](int index) {
      return proj.adopt(proj.api().proj_crs_get_sub_crs(proj.context(), object.get(), index));
    };
    crs.horizontal_epsg = code(proj.epsg(part(0)));
    crs.vertical_epsg = code(proj.epsg(part(1)));
  } else if (!crs.vertical_epsg) {
    crs.horizontal_epsg = crs.epsg;
  }
}

}  // namespace

bool complete_crs(CrsDefinition const& definition, Info& info) {
  auto& crs = info.georeference.crs;
  if (!crs || definition.empty() || proj_api() == nullptr) { return false; }
  if (!definition.text.empty() && !is_crs_definition(definition.text)) { return false; }  // describe() has reported it
  ProjSession const proj;
  if (!proj.has_database()) { return false; }
  CrsFromGeoKeys found;
  if (!definition.text.empty()) {
    found.crs = proj.create(definition.text);
    found.epsg = proj.epsg(found.crs);
  } else {
    found = crs_from_keys(*definition.keys, proj);
  }
  for (auto& band : info.bands) {
    if (band.unit.empty()) { band.unit = found.vertical_unit; }
  }
  if (found.unknown_code != 0) {
    info.warnings.push_back(
        text("PROJ does not know EPSG:", found.unknown_code,
             found.stand_in ? ": the CRS keeps its codes, without WKT" : ": the CRS is made of the file's other keys"));
  }
  if (!found.crs || found.stand_in) { return false; }
  if (found.epsg == 0 && !found.contradictory) { found.epsg = likely_epsg(found.crs, proj); }
  fill_crs(found.crs, found.epsg, proj, *crs);
  return true;
}

void fill_crs(PjPtr const& object, int epsg, ProjSession const& proj, Crs& crs) {
  crs.kind = kind_of(object, proj);
  crs.epsg = epsg == 0 ? std::nullopt : std::optional(epsg);
  set_part_codes(object, proj, crs);
  crs.name = proj.name(object);
  crs.wkt = proj.wkt(object, PJ_WKT2_2019);
  crs.projjson = proj.projjson(object);
}

int likely_epsg(PjPtr const& object, ProjSession const& proj) {
  int const own = proj.epsg(object);
  return own != 0 ? own : proj.identify(object, kMinConfidence);
}

}  // namespace terrazzo::geo
