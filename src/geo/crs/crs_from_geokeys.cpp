// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/crs_from_geokeys.hpp"

#include "base/letter_case.hpp"
#include "geo/crs/citation.hpp"
#include "geo/crs/geodetic_wkt.hpp"
#include "geo/crs/projection.hpp"
#include "geo/crs/wkt.hpp"
#include "geo/number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

UnitOfMeasure const kMetre{"metre", 1, 9001}, kUnknownUnit{"unknown", 1, 0};
constexpr int kWgs84 = 4326;
constexpr int kMinConfidence = 70;  // per cent, for a code that the file itself names

std::string text_or(GeoKeys const& keys, std::uint16_t key, char const* otherwise) {
  auto const* text = keys.text(key);
  return text == nullptr || text->empty() ? otherwise : *text;
}

// The spellings of units in citations of ERDAS Imagine and ArcGIS; an unspecified foot is the US survey foot.
struct CitedUnit {
  std::string_view name;
  double metres;
};
constexpr std::array kCitedUnits = {
    CitedUnit{"meters", 1},
    CitedUnit{"centimeters", 0.01},
    CitedUnit{"millimeters", 0.001},
    CitedUnit{"kilometers", 1000},
    CitedUnit{"us_survey_feet", 0.3048006096012192},
    CitedUnit{"us_survey_foot", 0.3048006096012192},
    CitedUnit{"feet", 0.3048006096012192},
    CitedUnit{"foot", 0.3048006096012192},
    CitedUnit{"international_feet", 0.3048},
    CitedUnit{"international_foot", 0.3048},
    CitedUnit{"yards", 0.9144},
};

// A unit named in a citation has priority over the one in the keys, as in GDAL.
std::optional<UnitOfMeasure> cited_linear_unit(GeoKeys const& keys) {
  for (auto const key : {key::GTCitation, key::ProjectedCitation}) {
    auto const* text = keys.text(key);
    std::string const name = text == nullptr ? std::string() : parse_citation(*text).linear_units;
    if (name.empty()) { continue; }
    for (auto const& unit : kCitedUnits) {
      if (starts_with_ignoring_case(unit.name, name.substr(0, std::max<std::size_t>(name.size(), 2) - 1))) {
        return UnitOfMeasure{name, unit.metres, 0};
      }
    }
  }
  return std::nullopt;
}

UnitOfMeasure linear_unit(GeoKeys const& keys, UnitOfMeasure const& otherwise, ProjSession const& proj) {
  if (auto cited = cited_linear_unit(keys)) { return cited->factor == otherwise.factor ? otherwise : *cited; }
  return unit_of_measure(keys.code(key::ProjLinearUnits).value_or(0), keys.number(key::ProjLinearUnitSize).value_or(0),
                         otherwise, proj);
}

UnitOfMeasure unit_of_first_axis(PjPtr const& crs, ProjSession const& proj) {
  PjPtr const system = proj.adopt(proj.api().proj_crs_get_coordinate_system(proj.context(), crs.get()));
  char const *name = nullptr, *code = nullptr;
  double factor = 0;
  if (!system || proj.api().proj_cs_get_axis_info(proj.context(), system.get(), 0, nullptr, nullptr, nullptr, &factor,
                                                  &name, nullptr, &code) == 0) {
    return kMetre;
  }
  return {name == nullptr ? "unknown" : name, factor, code == nullptr ? 0 : integer_or_zero(code)};
}

bool same_length(UnitOfMeasure const& a, UnitOfMeasure const& b) {
  return std::abs(a.factor - b.factor) <= 1e-12 * std::abs(a.factor);
}

// The official CRS with another unit of length: converts coordinates and false origin.
PjPtr with_linear_unit(PjPtr const& crs, UnitOfMeasure const& unit, ProjSession const& proj) {
  auto const& api = proj.api();
  std::string const code = std::to_string(unit.epsg);
  char const* const authority = unit.epsg == 0 ? nullptr : "EPSG";
  PjPtr const axes = proj.adopt(api.proj_crs_alter_cs_linear_unit(proj.context(), crs.get(), unit.name.c_str(),
                                                                  unit.factor, authority, code.c_str()));
  if (!axes) { return nullptr; }
  return proj.adopt(api.proj_crs_alter_parameters_linear_unit(proj.context(), axes.get(), unit.name.c_str(),
                                                              unit.factor, authority, code.c_str(), 1));
}

// True if the keys give only the code, apart from names and the unit.
bool only_code(GeoKeys const& keys) {
  constexpr std::array kDefining = {key::Projection, key::ProjMethod, key::GeodeticCRS, key::GeodeticDatum,
                                    key::Ellipsoid};
  return std::none_of(kDefining.begin(), kDefining.end(), [&](auto k) { return keys.has(k); });
}

// True if the keys name a geodetic CRS that PROJ does not have (`official` is null), and no datum: a CRS built from
// them would have an invented datum.
bool lacks_datum(GeoKeys const& keys, CrsCodes const& codes, PjPtr const& official) {
  return codes.geodetic != 0 && !official && !keys.has(key::GeodeticDatum);
}

std::string projected_name(GeoKeys const& keys) {
  for (auto const key : {key::ProjectedCitation, key::GTCitation}) {
    auto const* text = keys.text(key);
    if (text == nullptr || text->empty()) { continue; }
    auto const cited = parse_citation(*text);
    if (!cited.projected_name.empty()) { return cited.projected_name; }
    if (!cited.structured) { return clean_citation(*text); }
  }
  return "unnamed";
}

// Key 3074 names a projection without a datum, "UTM zone 11N"; if there is an official CRS, its projection is used.
PjPtr conversion_of(GeoKeys const& keys, PjPtr const& official, ProjSession const& proj) {
  if (official) { return proj.adopt(proj.api().proj_crs_get_coordoperation(proj.context(), official.get())); }
  int const code = keys.code(key::Projection).value_or(0);
  return code < kUserDefined ? proj.from_epsg(code, PJ_CATEGORY_COORDINATE_OPERATION) : nullptr;
}

// `wkt` with its first GEOGCS element replaced.
std::string with_geogcs(std::string const& wkt, std::string const& geogcs) {
  auto const start = wkt.find("GEOGCS[");
  if (start == std::string::npos) { return wkt; }
  std::size_t end = start;
  int depth = 0;
  for (bool quoted = false; end < wkt.size(); ++end) {
    if (wkt[end] == '"') { quoted = !quoted; }
    if (quoted) { continue; }
    if (wkt[end] == '[') { ++depth; }
    if (wkt[end] == ']' && --depth == 0) { break; }
  }
  return wkt.substr(0, start) + geogcs + wkt.substr(std::min(end + 1, wkt.size()));
}

// The projected CRS of the keys as WKT 1, the only notation in which a base with its shift to WGS 84 can be inserted
// directly; empty if there is no such projection.
std::string projected_wkt(GeoKeys const& keys, PjPtr const& official, GeodeticWkt const& base,
                          UnitOfMeasure const& unit, ProjSession const& proj) {
  std::string const name = official ? proj.name(official) : projected_name(keys);
  if (auto const projection = projection_wkt(keys)) {
    return "PROJCS[" + wkt_string(name) + "," + base.wkt + "," + projection->projection + "," + unit.wkt() + "," +
           projection->axes + "]";
  }
  PjPtr const conversion = conversion_of(keys, official, proj);
  // Angles of a projection are in the unit of its base, so the stand-in has that unit too.
  PjPtr const any_geodetic =
      proj.create(R"(GEOGCS["any",DATUM["any",SPHEROID["any",6378137,298.257223563]],PRIMEM["Greenwich",0],)" +
                  base.unit.wkt() + "]");
  if (!conversion || !any_geodetic) { return {}; }
  auto const& api = proj.api();
  PjPtr const system = proj.adopt(
      api.proj_create_cartesian_2D_cs(proj.context(), PJ_CART2D_EASTING_NORTHING, unit.name.c_str(), unit.factor));
  PjPtr const crs = proj.adopt(
      api.proj_create_projected_crs(proj.context(), name.c_str(), any_geodetic.get(), conversion.get(), system.get()));
  return crs ? with_geogcs(proj.wkt(crs, PJ_WKT1_GDAL), base.wkt) : std::string();
}

// A CRS with a registered name, whose parameters agree with the registered ones, is that CRS.
void adopt_by_name(ProjSession const& proj, CrsFromGeoKeys& result) {
  auto const& api = proj.api();
  auto const type = api.proj_get_type(result.crs.get());
  if (type != PJ_TYPE_PROJECTED_CRS && type != PJ_TYPE_GEOGRAPHIC_2D_CRS) { return; }
  PjPtr named = proj.from_name(proj.name(result.crs), type);
  if (!named) { return; }
  constexpr auto kCriterion = PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS;
  bool same = api.proj_is_equivalent_to(result.crs.get(), named.get(), kCriterion) != 0;
  if (!same) {
    // In WKT 1 the axes are east and north, independent of the registry.
    PjPtr const plain = proj.create(proj.wkt(named, PJ_WKT1_GDAL));
    same = plain && api.proj_is_equivalent_to(result.crs.get(), plain.get(), kCriterion) != 0;
  }
  if (!same) { return; }
  result.epsg = proj.epsg(named);
  result.crs = std::move(named);
}

PjPtr local_crs(std::string const& name, UnitOfMeasure const& unit, ProjSession const& proj) {
  return proj.create("LOCAL_CS[" + wkt_string(name) + "," + unit.wkt() +
                     ",AXIS[\"Easting\",EAST],AXIS[\"Northing\",NORTH]]");
}

CrsFromGeoKeys projected(GeoKeys const& keys, CrsCodes const& codes, ProjSession const& proj) {
  CrsFromGeoKeys result;
  PjPtr official = proj.from_epsg(codes.projected, PJ_CATEGORY_CRS);
  bool const is_projected = official && proj.api().proj_get_type(official.get()) == PJ_TYPE_PROJECTED_CRS;
  if (official && !is_projected && only_code(keys)) {  // some writers put any code, such as 4326, into this key
    result.epsg = codes.projected;
    result.crs = std::move(official);
    return result;
  }
  bool const has_base = !lacks_datum(keys, codes, proj.from_epsg(codes.geodetic, PJ_CATEGORY_CRS));
  result.unknown_code = codes.projected != 0 && !official ? codes.projected : has_base ? 0 : codes.geodetic;
  if (!is_projected) { official.reset(); }
  UnitOfMeasure const official_unit = official ? unit_of_first_axis(official, proj) : kMetre;
  UnitOfMeasure const unit = linear_unit(keys, official_unit, proj);
  if (official && only_code(keys)) {
    if (same_length(unit, official_unit)) {
      result.epsg = codes.projected;
      result.crs = std::move(official);
    } else {
      result.crs = with_linear_unit(official, unit, proj);
    }
    return result;
  }
  PjPtr const official_base =
      official ? proj.adopt(proj.api().proj_crs_get_geodetic_crs(proj.context(), official.get())) : nullptr;
  auto const base = geodetic_wkt(keys, proj.epsg(official_base), proj);
  std::string const wkt = projected_wkt(keys, official, base, unit, proj);
  if (!wkt.empty()) { result.crs = proj.create(wkt); }
  result.stand_in = result.unknown_code != 0 && result.unknown_code == codes.projected && !(result.crs && has_base);
  if (!result.crs) {
    result.crs = local_crs(projected_name(keys), unit, proj);
  } else if (!official) {
    adopt_by_name(proj, result);
  } else if (PjPtr const plain = proj.create(wkt_without_axes(wkt));  // the official axes may be in the other order
             plain && proj.identify(plain, kMinConfidence, codes.projected) != 0) {
    result.epsg = codes.projected;
    result.crs = std::move(official);
  }
  return result;
}

bool has_dynamic_datum(PjPtr const& crs, ProjSession const& proj) {
  if (!crs) { return false; }
  auto const& api = proj.api();
  PjPtr const datum = proj.adopt(api.proj_crs_get_datum(proj.context(), crs.get()));
  if (datum) { return api.proj_get_type(datum.get()) == PJ_TYPE_DYNAMIC_GEODETIC_REFERENCE_FRAME; }
  return proj.adopt(api.proj_crs_get_datum_ensemble(proj.context(), crs.get())) != nullptr;
}

// The axes of every geographic CRS of the registry, which GDAL also uses for those that are not in it. (PROJ assumes
// longitude first for a GEOGCS without axes.)
std::string with_latitude_first(std::string geogcs) {
  geogcs.insert(geogcs.size() - 1, R"(,AXIS["Latitude",NORTH],AXIS["Longitude",EAST])");
  return geogcs;
}

CrsFromGeoKeys geographic(GeoKeys const& keys, CrsCodes const& codes, ProjSession const& proj) {
  CrsFromGeoKeys result;
  auto base = geodetic_wkt(keys, 0, proj);
  // GDAL does not compare the parameters of a dynamic datum or of an ensemble, such as WGS 84, with those in the keys:
  // the code decides.
  if (has_dynamic_datum(base.official, proj)) { base.epsg = codes.geodetic; }
  if (!base.official) { result.unknown_code = codes.geodetic; }
  result.stand_in = lacks_datum(keys, codes, base.official);
  result.epsg = base.epsg;
  result.crs = base.epsg != 0 ? std::move(base.official) : proj.create(with_latitude_first(base.wkt));
  if (base.epsg != 0 || !result.crs) { return result; }
  if (codes.geodetic == 0) {
    adopt_by_name(proj, result);
  } else {
    result.contradictory = base.official != nullptr;
  }
  return result;
}

CrsFromGeoKeys geocentric(GeoKeys const& keys, CrsCodes const& codes, ProjSession const& proj) {
  CrsFromGeoKeys result;
  PjPtr official = proj.from_epsg(codes.geodetic, PJ_CATEGORY_CRS);
  if (official && proj.api().proj_get_type(official.get()) == PJ_TYPE_GEOCENTRIC_CRS) {
    result.epsg = codes.geodetic;
    result.crs = std::move(official);
    return result;
  }
  if (codes.geodetic != 0 && !official) { result.unknown_code = codes.geodetic; }
  result.stand_in = lacks_datum(keys, codes, official);
  auto const base = geodetic_wkt(keys, 0, proj);
  auto const unit = unit_of_measure(keys.code(key::GeogLinearUnits).value_or(0),
                                    keys.number(key::GeogLinearUnitSize).value_or(0), kMetre, proj);
  std::string const name = text_or(keys, key::GTCitation, text_or(keys, key::GeodeticCitation, "unnamed").c_str());
  result.crs = proj.create("GEOCCS[" + wkt_string(name) + "," + base.datum + "," + unit.wkt() + "]");
  return result;
}

struct VerticalPart {
  PjPtr crs{};
  std::string unit{};
};

VerticalPart vertical(GeoKeys const& keys, CrsCodes const& codes, ProjSession const& proj) {
  VerticalPart part;
  if (codes.vertical != 0) {
    part.crs = proj.from_epsg(codes.vertical, PJ_CATEGORY_CRS);
    if (part.crs && proj.api().proj_get_type(part.crs.get()) != PJ_TYPE_VERTICAL_CRS) { part.crs.reset(); }
    if (part.crs) { part.unit = unit_of_first_axis(part.crs, proj).name; }
    return part;
  }
  auto const unit = unit_of_measure(codes.vertical_units, 0, kMetre, proj);
  std::string name = text_or(keys, key::VerticalCitation, "unknown");
  constexpr std::string_view kPrefix = "VCS Name = ";
  if (starts_with_ignoring_case(name, kPrefix)) { name = name.substr(kPrefix.size(), name.find('|') - kPrefix.size()); }
  PjPtr const datum =
      codes.vertical_datum < kUserDefined ? proj.from_epsg(codes.vertical_datum, PJ_CATEGORY_DATUM) : nullptr;
  std::string const datum_name = datum ? proj.name(datum) : "unknown";
  std::string const datum_id =
      datum ? ",AUTHORITY[\"EPSG\",\"" + std::to_string(codes.vertical_datum) + "\"]" : std::string();
  part.crs = proj.create("VERT_CS[" + wkt_string(name) + ",VERT_DATUM[" + wkt_string(datum_name) + ",2005" + datum_id +
                         "]," + unit.wkt() + ",AXIS[\"Up\",UP]]");
  part.unit = unit.name;
  return part;
}

// True if the "vertical CRS" is the geographic one in three dimensions: heights are above the ellipsoid.
bool has_ellipsoidal_heights(CrsCodes const& codes, PjPtr const& horizontal, ProjSession const& proj) {
  PjPtr const base = proj.adopt(proj.api().proj_crs_get_geodetic_crs(proj.context(), horizontal.get()));
  if (codes.vertical == 0) { return codes.vertical_datum == kWgs84AsVerticalDatum && proj.epsg(base) == kWgs84; }
  PjPtr const three = proj.from_epsg(codes.vertical, PJ_CATEGORY_CRS);
  if (!three || proj.api().proj_get_type(three.get()) != PJ_TYPE_GEOGRAPHIC_3D_CRS) { return false; }
  PjPtr const lifted =
      base ? proj.adopt(proj.api().proj_crs_promote_to_3D(proj.context(), nullptr, base.get())) : nullptr;
  return lifted &&
         proj.api().proj_is_equivalent_to(lifted.get(), three.get(), PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) != 0;
}

void add_vertical(GeoKeys const& keys, CrsCodes const& codes, ProjSession const& proj, CrsFromGeoKeys& result) {
  if (has_ellipsoidal_heights(codes, result.crs, proj)) {
    bool const geographic_crs = codes.kind == Kind::geographic;
    PjPtr lifted = geographic_crs && codes.vertical != 0 ? proj.from_epsg(codes.vertical, PJ_CATEGORY_CRS) : nullptr;
    if (!lifted) { lifted = proj.adopt(proj.api().proj_crs_promote_to_3D(proj.context(), nullptr, result.crs.get())); }
    if (lifted) { result.crs = std::move(lifted); }
    result.epsg = geographic_crs ? proj.epsg(result.crs) : 0;
    return;
  }
  auto part = vertical(keys, codes, proj);
  result.vertical_unit = part.unit;
  if (!codes.reports_vertical) { return; }
  if (!part.crs) {
    if (codes.vertical != 0 && !proj.from_epsg(codes.vertical, PJ_CATEGORY_CRS)) {
      result.unknown_code = codes.vertical;
      result.stand_in = true;
    }
    return;
  }
  std::string name = text_or(keys, key::GTCitation, "");
  if (name.empty() || name.find(" = ") != std::string::npos) {
    name = proj.name(result.crs) + " + " + proj.name(part.crs);
  }
  PjPtr compound =
      proj.adopt(proj.api().proj_create_compound_crs(proj.context(), name.c_str(), result.crs.get(), part.crs.get()));
  if (!compound) { return; }
  result.crs = std::move(compound);
  result.epsg = 0;
}

}  // namespace

CrsFromGeoKeys crs_from_keys(GeoKeys const& keys, ProjSession const& proj) {
  auto const codes = crs_codes(keys);
  CrsFromGeoKeys result;
  switch (codes.kind) {
    case Kind::projected: result = projected(keys, codes, proj); break;
    case Kind::geographic: result = geographic(keys, codes, proj); break;
    case Kind::geocentric: return geocentric(keys, codes, proj);
    default: {
      std::string const name = text_or(keys, key::GTCitation, text_or(keys, key::GeodeticCitation, "unnamed").c_str());
      // The keys contain only the raster type: GDAL reads an unknown CRS.
      auto const& unit = keys.has(key::GTModelType) ? kMetre : kUnknownUnit;
      result.crs = local_crs(clean_citation(name), linear_unit(keys, unit, proj), proj);
    }
  }
  if (result.crs && codes.has_vertical()) { add_vertical(keys, codes, proj, result); }
  return result;
}

}  // namespace terrazzo::geo
