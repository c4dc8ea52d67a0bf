// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/geodetic_wkt.hpp"

#include "geo/crs/citation.hpp"
#include "geo/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace terrazzo::geo {
namespace {

constexpr double kRadiansPerDegree = 0.0174532925199433;  // the value in all WKT 1
constexpr double kWgs84SemiMajor = 6378137.0, kWgs84InverseFlattening = 298.257223563;
constexpr int kWgs84Ellipsoid = 7030;

struct EllipsoidValues {
  std::string name{};
  double semi_major = 0;
  double inverse_flattening = 0;  // 0: a sphere
  int epsg = 0;
};

struct Datum {
  std::string name{};
  int epsg = 0;
};

struct Meridian {
  std::string name{"Greenwich"};
  double longitude_degrees = 0;
  int epsg = 0;
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-10 * std::max(std::abs(a), std::abs(b)); }

int code_of(GeoKeys const& keys, std::uint16_t key) {
  int const code = keys.code(key).value_or(0);
  return code < kUserDefined ? code : 0;
}

double finite_or_zero(GeoKeys const& keys, std::uint16_t key) {
  double const value = keys.number(key).value_or(0.0);
  return std::isfinite(value) ? value : 0.0;
}

EllipsoidValues ellipsoid_of(PjPtr const& object, ProjSession const& proj) {
  EllipsoidValues values;
  if (!object) { return values; }
  PjPtr const ellipsoid = proj.api().proj_get_type(object.get()) == PJ_TYPE_ELLIPSOID
                              ? nullptr
                              : proj.adopt(proj.api().proj_get_ellipsoid(proj.context(), object.get()));
  PjPtr const& source = ellipsoid ? ellipsoid : object;
  proj.api().proj_ellipsoid_get_parameters(proj.context(), source.get(), &values.semi_major, nullptr, nullptr,
                                           &values.inverse_flattening);
  values.name = proj.name(source);
  values.epsg = proj.epsg(source);
  return values;
}

// WKT 1 has no datum ensembles; without that word, their names are those of the datums they replaced.
std::string without_ensemble(std::string name) {
  constexpr std::string_view kEnding = " ensemble";
  if (name.ends_with(kEnding)) { name.resize(name.size() - kEnding.size()); }
  return name;
}

Datum datum_of(PjPtr const& crs, ProjSession const& proj) {
  if (!crs) { return {}; }
  PjPtr datum = proj.adopt(proj.api().proj_crs_get_datum(proj.context(), crs.get()));
  if (!datum) { datum = proj.adopt(proj.api().proj_crs_get_datum_ensemble(proj.context(), crs.get())); }
  return {without_ensemble(proj.name(datum)), proj.epsg(datum)};
}

Meridian meridian_from(PjPtr const& meridian, ProjSession const& proj) {
  Meridian result;
  if (!meridian) { return result; }
  double longitude = 0, radians = kRadiansPerDegree;
  proj.api().proj_prime_meridian_get_parameters(proj.context(), meridian.get(), &longitude, &radians, nullptr);
  return {proj.name(meridian), longitude * radians / kRadiansPerDegree, proj.epsg(meridian)};
}

UnitOfMeasure angular_unit_of(PjPtr const& crs, ProjSession const& proj) {
  UnitOfMeasure unit{"degree", kRadiansPerDegree, 9122};
  PjPtr const system = crs ? proj.adopt(proj.api().proj_crs_get_coordinate_system(proj.context(), crs.get())) : nullptr;
  char const *name = nullptr, *code = nullptr;
  double factor = 0;
  if (system && proj.api().proj_cs_get_axis_info(proj.context(), system.get(), 0, nullptr, nullptr, nullptr, &factor,
                                                 &name, nullptr, &code) != 0) {
    if (name != nullptr && factor > 0) { unit = {name, factor, code == nullptr ? 0 : integer_or_zero(code)}; }
  }
  return unit;
}

// Replaces values that the keys contradict; returns true if there were any.
bool override_ellipsoid(GeoKeys const& keys, ProjSession const& proj, EllipsoidValues& ellipsoid) {
  bool changed = false;
  double const major = finite_or_zero(keys, key::EllipsoidSemiMajorAxis);
  double const minor = finite_or_zero(keys, key::EllipsoidSemiMinorAxis);
  auto const flattening = keys.number(key::EllipsoidInvFlattening);
  int code = code_of(keys, key::Ellipsoid);
  // Sentinel-1 products put the code of the CRS where that of the ellipsoid belongs.
  if (code == 4326 && close(major, kWgs84SemiMajor)) { code = kWgs84Ellipsoid; }
  if (code != 0 && code != ellipsoid.epsg) {
    auto const named = ellipsoid_of(proj.from_epsg(code, PJ_CATEGORY_ELLIPSOID), proj);
    if (named.semi_major > 0) {
      ellipsoid = named;
      changed = true;
    }
  }
  double new_major = major > 0 ? major : ellipsoid.semi_major;
  double new_flattening = ellipsoid.inverse_flattening;
  if (flattening) {
    new_flattening = std::isfinite(*flattening) ? *flattening : 0.0;
  } else if (minor > 0 && new_major > 0) {
    new_flattening = close(minor, new_major) ? 0.0 : new_major / (new_major - minor);
  }
  if (!(new_flattening > 1)) { new_flattening = 0; }
  if (new_major > 0 &&
      (!close(new_major, ellipsoid.semi_major) || !close(new_flattening, ellipsoid.inverse_flattening))) {
    // The official values have more digits than a file that defines the same ellipsoid by its two axes.
    bool const same = std::abs(new_major - ellipsoid.semi_major) < 1e-9 * new_major &&
                      std::abs(new_flattening - ellipsoid.inverse_flattening) < 1e-8 * new_flattening && !flattening;
    if (!same) {
      ellipsoid = {"unknown", new_major, new_flattening, 0};
      changed = true;
    }
  }
  return changed;
}

std::string authority(int code) {
  return code == 0 ? std::string() : ",AUTHORITY[\"EPSG\",\"" + std::to_string(code) + "\"]";
}

std::string to_wgs84(GeoKeys const& keys) {
  constexpr std::size_t kParameters = 7;
  auto values = keys.numbers(key::GeogTOWGS84);
  if (values.empty() || values.size() > kParameters) { return {}; }
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) { return {}; }
  values.resize(kParameters);
  std::string wkt = ",TOWGS84[";
  for (std::size_t i = 0; i < values.size(); ++i) { wkt += (i > 0 ? "," : "") + format_exact(values[i]); }
  return wkt + "]";
}

}  // namespace

std::string wkt_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') { out += '"'; }
    out += c;
  }
  return out + '"';
}

std::string UnitOfMeasure::wkt() const {
  return "UNIT[" + wkt_string(name) + "," + format_significant(factor, 16) + authority(epsg) + "]";
}

UnitOfMeasure unit_of_measure(int code, double size, UnitOfMeasure const& otherwise, ProjSession const& proj) {
  char const* name = nullptr;
  double factor = 0;
  if (code > 0 && code < kUserDefined && code != otherwise.epsg &&
      proj.api().proj_uom_get_info_from_database(proj.context(), "EPSG", std::to_string(code).c_str(), &name, &factor,
                                                 nullptr) != 0 &&
      name != nullptr && factor > 0) {
    return {name, factor, code};
  }
  if (code == kUserDefined && std::isfinite(size) && size > 0) { return {"unknown", size, 0}; }
  return otherwise;
}

GeodeticWkt geodetic_wkt(GeoKeys const& keys, int fallback_epsg, ProjSession const& proj) {
  int const code = code_of(keys, key::GeodeticCRS) != 0 ? code_of(keys, key::GeodeticCRS) : fallback_epsg;
  PjPtr official = proj.from_epsg(code, PJ_CATEGORY_CRS);
  auto const* text = keys.text(key::GeodeticCitation);
  Citation const cited = text == nullptr ? Citation{} : parse_citation(*text);

  Datum datum = datum_of(official, proj);
  EllipsoidValues ellipsoid = ellipsoid_of(official, proj);
  Meridian meridian = meridian_from(
      official ? proj.adopt(proj.api().proj_get_prime_meridian(proj.context(), official.get())) : nullptr, proj);
  UnitOfMeasure unit = angular_unit_of(official, proj);
  bool changed = !official;

  if (int const datum_code = code_of(keys, key::GeodeticDatum); datum_code != 0 && datum_code != datum.epsg) {
    PjPtr named = proj.from_epsg(datum_code, PJ_CATEGORY_DATUM);
    if (!named) { named = proj.from_epsg(datum_code, PJ_CATEGORY_DATUM_ENSEMBLE); }
    datum = {without_ensemble(proj.name(named)), datum_code};
    if (named) { ellipsoid = ellipsoid_of(named, proj); }
    changed = true;
  }
  changed = override_ellipsoid(keys, proj, ellipsoid) || changed;
  // GDAL writes a unit without a code as a size and a name in a citation, without the key for user-defined units.
  int const unit_code = keys.code(key::GeogAngularUnits).value_or(cited.angular_units.empty() ? 0 : kUserDefined);
  auto const angular = unit_of_measure(unit_code, keys.number(key::GeogAngularUnitSize).value_or(0), unit, proj);
  // EPSG has two codes for the degree.
  if (!close(angular.factor, unit.factor)) {
    unit = angular;
    changed = true;
  }
  int const meridian_code = code_of(keys, key::PrimeMeridian);
  if (meridian_code != 0 && meridian_code != meridian.epsg) {
    meridian = meridian_from(proj.from_epsg(meridian_code, PJ_CATEGORY_PRIME_MERIDIAN), proj);
    changed = true;
  }
  double longitude = meridian.longitude_degrees * kRadiansPerDegree / unit.factor;
  if (!official && meridian_code == 0) {
    // In the angular unit, as in the standard; GDAL converts a number in grads once more in each direction.
    longitude = finite_or_zero(keys, key::PrimeMeridianLongitude);
    if (longitude != 0) { meridian.name = "unnamed"; }
  }

  GeodeticWkt result;
  if (!changed) { result.epsg = code; }
  if (datum.name.empty()) { datum.name = cited.datum.empty() ? "unknown" : cited.datum; }
  if (!cited.ellipsoid.empty() && ellipsoid.epsg == 0) { ellipsoid.name = cited.ellipsoid; }
  if (!cited.prime_meridian.empty() && meridian.epsg == 0) { meridian.name = cited.prime_meridian; }
  if (!cited.angular_units.empty() && unit.epsg == 0) { unit.name = cited.angular_units; }
  if (!(ellipsoid.semi_major > 0)) {
    ellipsoid = {"unretrievable - using WGS84", kWgs84SemiMajor, kWgs84InverseFlattening, 0};
  }
  std::string name = proj.name(official);
  if (name.empty()) { name = cited.geographic_name; }
  if (name.empty() && text != nullptr && !cited.structured) { name = clean_citation(*text); }
  if (name.empty()) { name = datum.name; }

  std::string const shift = datum.epsg == 0 ? to_wgs84(keys) : std::string();
  result.datum = "DATUM[" + wkt_string(datum.name) + ",SPHEROID[" + wkt_string(ellipsoid.name) + "," +
                 format_exact(ellipsoid.semi_major) + "," + format_exact(ellipsoid.inverse_flattening) +
                 authority(ellipsoid.epsg) + "]" + shift + authority(datum.epsg) + "],PRIMEM[" +
                 wkt_string(meridian.name) + "," + format_exact(longitude) + authority(meridian.epsg) + "]";
  result.wkt = "GEOGCS[" + wkt_string(name) + "," + result.datum + "," + unit.wkt() + authority(result.epsg) + "]";
  result.unit = std::move(unit);
  result.official = std::move(official);
  return result;
}

}  // namespace terrazzo::geo
