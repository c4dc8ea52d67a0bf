// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/projection.hpp"

#include "base/letter_case.hpp"
#include "geo/number.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace terrazzo::geo {
namespace {

// Writers use different keys for the origin of a projection, so each parameter has a list of keys to try.
enum class Parameter : std::uint8_t {
  none,
  latitude,
  longitude,
  pole_longitude,
  parallel_1,
  parallel_2,
  azimuth,
  grid_angle,
  scale
};

struct Argument {
  Parameter parameter = Parameter::none;
  std::string_view name{};
};

constexpr Argument kOriginLat{Parameter::latitude, "latitude_of_origin"};
constexpr Argument kMeridian{Parameter::longitude, "central_meridian"};
constexpr Argument kPoleMeridian{Parameter::pole_longitude, "central_meridian"};
constexpr Argument kCenterLat{Parameter::latitude, "latitude_of_center"};
constexpr Argument kCenterLong{Parameter::longitude, "longitude_of_center"};
constexpr Argument kParallel1{Parameter::parallel_1, "standard_parallel_1"};
constexpr Argument kParallel2{Parameter::parallel_2, "standard_parallel_2"};
constexpr Argument kAzimuth{Parameter::azimuth, "azimuth"};
constexpr Argument kGridAngle{Parameter::grid_angle, "rectified_grid_angle"};
constexpr Argument kScale{Parameter::scale, "scale_factor"};

// The keys for an origin that are written; reading accepts all of them.
enum class Origin : std::uint8_t { natural, center, false_origin };

struct Method {
  std::uint16_t code;  // key 3075
  std::string_view name;
  std::array<Argument, 5> arguments{};
  Origin origin = Origin::natural;
};

constexpr std::uint16_t kMercator = 7, kStereographic = 14, kPolarStereographic = 15;
constexpr Method kMercator2SP{kMercator, "Mercator_2SP", {kParallel1, kMeridian}};

// Parameters in the order of the EPSG registry: in another order, PROJ treats the CRS as a different one.
constexpr std::array kMethods = {
    Method{1, "Transverse_Mercator", {kOriginLat, kMeridian, kScale}},
    Method{3, "Hotine_Oblique_Mercator", {kCenterLat, kCenterLong, kAzimuth, kGridAngle, kScale}, Origin::center},
    Method{4, "Laborde_Oblique_Mercator", {kCenterLat, kCenterLong, kAzimuth, kScale}, Origin::center},
    Method{kMercator, "Mercator_1SP", {kOriginLat, kMeridian, kScale}},
    Method{8, "Lambert_Conformal_Conic_2SP", {kOriginLat, kMeridian, kParallel1, kParallel2}, Origin::false_origin},
    Method{9, "Lambert_Conformal_Conic_1SP", {kOriginLat, kMeridian, kScale}},
    Method{10, "Lambert_Azimuthal_Equal_Area", {kCenterLat, kCenterLong}, Origin::center},
    Method{11, "Albers_Conic_Equal_Area", {kCenterLat, kCenterLong, kParallel1, kParallel2}},
    Method{12, "Azimuthal_Equidistant", {kCenterLat, kCenterLong}, Origin::center},
    Method{13, "Equidistant_Conic", {kCenterLat, kCenterLong, kParallel1, kParallel2}},
    Method{kStereographic, "Stereographic", {kOriginLat, kMeridian, kScale}, Origin::center},
    Method{kPolarStereographic, "Polar_Stereographic", {kOriginLat, kPoleMeridian, kScale}},
    Method{16, "Oblique_Stereographic", {kOriginLat, kMeridian, kScale}},
    Method{17, "Equirectangular", {kOriginLat, kMeridian, kParallel1}, Origin::center},
    Method{18, "Cassini_Soldner", {kOriginLat, kMeridian}},
    Method{19, "Gnomonic", {kOriginLat, kMeridian}, Origin::center},
    Method{20, "Miller_Cylindrical", {kCenterLat, kCenterLong}, Origin::center},
    Method{21, "Orthographic", {kOriginLat, kMeridian}, Origin::center},
    Method{22, "Polyconic", {kOriginLat, kMeridian}},
    Method{23, "Robinson", {kCenterLong}, Origin::center},
    Method{24, "Sinusoidal", {kCenterLong}, Origin::center},
    Method{25, "VanDerGrinten", {kMeridian}, Origin::center},
    Method{26, "New_Zealand_Map_Grid", {kOriginLat, kMeridian}},
    Method{27, "Transverse_Mercator_South_Orientated", {kOriginLat, kMeridian, kScale}},
    Method{28, "Cylindrical_Equal_Area", {kParallel1, kMeridian}},
    Method{9815,
           "Hotine_Oblique_Mercator_Azimuth_Center",
           {kCenterLat, kCenterLong, kAzimuth, kGridAngle, kScale},
           Origin::center},
};

std::uint16_t key_of(Method const& method, Parameter parameter) {
  switch (parameter) {
    case Parameter::none: break;
    case Parameter::latitude:
      switch (method.origin) {
        case Origin::natural: return key::ProjNatOriginLat;
        case Origin::center: return key::ProjCenterLat;
        case Origin::false_origin: return key::ProjFalseOriginLat;
      }
      break;
    case Parameter::longitude:
      switch (method.origin) {
        case Origin::natural: return key::ProjNatOriginLong;
        case Origin::center: return key::ProjCenterLong;
        case Origin::false_origin: return key::ProjFalseOriginLong;
      }
      break;
    case Parameter::pole_longitude: return key::ProjStraightVertPoleLong;
    case Parameter::parallel_1: return key::ProjStdParallel1;
    case Parameter::parallel_2: return key::ProjStdParallel2;
    case Parameter::azimuth: return key::ProjAzimuthAngle;
    case Parameter::grid_angle: return key::ProjRectifiedGridAngle;
    case Parameter::scale: {
      bool const at_center = method.origin == Origin::center && method.code != kStereographic;
      return at_center ? key::ProjScaleAtCenter : key::ProjScaleAtNatOrigin;
    }
  }
  return 0;
}

// 0 if the method has no such parameter.
std::uint16_t key_of(Method const& method, std::string_view parameter) {
  bool const false_origin = method.origin == Origin::false_origin;
  if (equals_ignoring_case(parameter, "false_easting")) {
    return false_origin ? key::ProjFalseOriginEasting : key::ProjFalseEasting;
  }
  if (equals_ignoring_case(parameter, "false_northing")) {
    return false_origin ? key::ProjFalseOriginNorthing : key::ProjFalseNorthing;
  }
  for (auto const& argument : method.arguments) {
    if (argument.parameter != Parameter::none && equals_ignoring_case(parameter, argument.name)) {
      return key_of(method, argument.parameter);
    }
  }
  return 0;
}

Method const* find_method(std::string_view name) {
  if (equals_ignoring_case(name, kMercator2SP.name)) { return &kMercator2SP; }
  for (auto const& method : kMethods) {
    if (equals_ignoring_case(name, method.name)) { return &method; }
  }
  return nullptr;
}

double first_of(GeoKeys const& keys, std::initializer_list<std::uint16_t> candidates, double otherwise) {
  for (auto candidate : candidates) {
    auto const value = keys.number(candidate);
    if (value && std::isfinite(*value)) { return *value; }
  }
  return otherwise;
}

double value_of(GeoKeys const& keys, Parameter parameter) {
  switch (parameter) {
    case Parameter::none: break;
    case Parameter::latitude:
      return first_of(keys, {key::ProjNatOriginLat, key::ProjFalseOriginLat, key::ProjCenterLat}, 0);
    case Parameter::longitude:
      return first_of(keys, {key::ProjNatOriginLong, key::ProjFalseOriginLong, key::ProjCenterLong}, 0);
    case Parameter::pole_longitude:
      return first_of(
          keys, {key::ProjStraightVertPoleLong, key::ProjNatOriginLong, key::ProjFalseOriginLong, key::ProjCenterLong},
          0);
    case Parameter::parallel_1: return first_of(keys, {key::ProjStdParallel1}, 0);
    case Parameter::parallel_2: return first_of(keys, {key::ProjStdParallel2}, 0);
    case Parameter::azimuth: return first_of(keys, {key::ProjAzimuthAngle}, 0);
    case Parameter::grid_angle: return first_of(keys, {key::ProjRectifiedGridAngle}, 90);
    case Parameter::scale: return first_of(keys, {key::ProjScaleAtNatOrigin, key::ProjScaleAtCenter}, 1);
  }
  return 0;
}

Method const* find_method(GeoKeys const& keys) {
  auto const code = keys.code(key::ProjMethod);
  if (!code) { return nullptr; }
  // A Mercator with a standard parallel is the other variant, even if it also has a scale.
  if (*code == kMercator && keys.number(key::ProjStdParallel1)) { return &kMercator2SP; }
  for (auto const& method : kMethods) {
    if (method.code == *code) { return &method; }
  }
  return nullptr;
}

// At a pole both axes point away from it.
std::string axes_of(Method const& method, double latitude) {
  if (method.code != kPolarStereographic) { return "AXIS[\"Easting\",EAST],AXIS[\"Northing\",NORTH]"; }
  return latitude > 0 ? "AXIS[\"Easting\",SOUTH],AXIS[\"Northing\",SOUTH]"
                      : "AXIS[\"Easting\",NORTH],AXIS[\"Northing\",NORTH]";
}

std::string parameter_wkt(std::string_view name, double value) {
  return ",PARAMETER[\"" + std::string(name) + "\"," + format_exact(value) + "]";
}

}  // namespace

std::optional<ProjectionWkt> projection_wkt(GeoKeys const& keys) {
  Method const* const method = find_method(keys);
  if (method == nullptr) { return std::nullopt; }
  std::string wkt = "PROJECTION[\"" + std::string(method->name) + "\"]";
  for (auto const& argument : method->arguments) {
    if (argument.parameter == Parameter::none) { break; }
    double const value = value_of(keys, argument.parameter);
    // WKT 1 has no latitude of origin for this one: it would count as a surplus parameter.
    bool const implied = method->code == kMercator && argument.parameter == Parameter::latitude && value == 0;
    if (!implied) { wkt += parameter_wkt(argument.name, value); }
  }
  double const easting =
      first_of(keys, {key::ProjFalseEasting, key::ProjCenterEasting, key::ProjFalseOriginEasting}, 0);
  double const northing =
      first_of(keys, {key::ProjFalseNorthing, key::ProjCenterNorthing, key::ProjFalseOriginNorthing}, 0);
  wkt += parameter_wkt("false_easting", easting) + parameter_wkt("false_northing", northing);
  return ProjectionWkt{std::move(wkt), axes_of(*method, value_of(keys, Parameter::latitude))};
}

bool projection_keys(WktNode const& projcs, GeoKeys& keys) {
  WktNode const* const projection = projcs.child("PROJECTION");
  Method const* const method = projection == nullptr ? nullptr : find_method(projection->name());
  if (method == nullptr) { return false; }
  keys.set_code(key::Projection, kUserDefined);
  keys.set_code(key::ProjMethod, method->code);
  for (auto const& node : projcs.children) {
    if (!equals_ignoring_case(node.keyword, "PARAMETER")) { continue; }
    std::uint16_t const key = key_of(*method, node.name());
    auto const value = node.number(1);
    if (key == 0 || !value) { return false; }
    keys.set_number(key, *value);
  }
  return true;
}

}  // namespace terrazzo::geo
