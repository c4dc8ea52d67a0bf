// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/geokeys_from_crs.hpp"

#include "base/letter_case.hpp"
#include "geo/crs/crs_from_geokeys.hpp"
#include "geo/crs/projection.hpp"
#include "geo/crs/wkt.hpp"

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::geo {
namespace {

constexpr int kModelProjected = 1, kModelGeographic = 2, kModelGeocentric = 3;
constexpr int kMetre = 9001, kDegree = 9102;
constexpr int kSure = 100, kSureButForTheName = 70;  // per cent, of PROJ's identification
constexpr double kRadiansPerDegree = 0.0174532925199433;
// GDAL's own key: false eastings and northings are in the unit of the CRS; software of the nineties used other units.
constexpr std::uint16_t kProjLinearUnitsInterpCorrect = 3059;

bool is_key_code(int code) { return code > 0 && code < kUserDefined; }
int code_or_user_defined(int code) { return is_key_code(code) ? code : kUserDefined; }

// The CRS without its shift to WGS 84, if it has one.
PjPtr unbound(PjPtr const& crs, ProjSession const& proj) {
  auto const& api = proj.api();
  if (crs && api.proj_get_type(crs.get()) == PJ_TYPE_BOUND_CRS) {
    return proj.adopt(api.proj_get_source_crs(proj.context(), crs.get()));
  }
  return crs ? proj.adopt(api.proj_clone(proj.context(), crs.get())) : nullptr;
}

bool is_degree(std::optional<double> radians) { return radians && std::abs(*radians - kRadiansPerDegree) < 1e-12; }

bool has_degrees(WktNode const* geogcs) {
  WktNode const* const unit = geogcs == nullptr ? nullptr : geogcs->child("UNIT");
  return unit != nullptr && is_degree(unit->number(1));
}

// By size if it has no code: metre, foot, US survey foot, kilometre.
int length_unit_code(WktNode const& unit) {
  if (int const code = unit.epsg(); is_key_code(code)) { return code; }
  constexpr std::array<std::pair<double, int>, 4> kCommon = {
      {{1, 9001}, {0.3048, 9002}, {1200.0 / 3937.0, 9003}, {1000, 9036}}};
  double const metres = unit.number(1).value_or(0);
  for (auto const& [size, code] : kCommon) {
    if (std::abs(metres - size) <= 1e-12) { return code; }
  }
  return kUserDefined;
}

bool has_no_name(std::string_view name) {
  return name.empty() || equals_ignoring_case(name, "unknown") || equals_ignoring_case(name, "unnamed");
}

class KeysMaker {
 public:
  KeysMaker(int hint, ProjSession const& proj) : hint_(hint), proj_(proj) { keys_.set_revision_1_0(true); }

  bool add(PjPtr const& crs) {
    if (type_of(crs) != PJ_TYPE_COMPOUND_CRS) { return add_horizontal(crs); }
    keys_.set_revision_1_0(false);
    hint_ = 0;  // the hint is for the whole CRS
    if (!add_horizontal(part_of(crs, 0)) || !add_vertical(unbound(part_of(crs, 1), proj_))) { return false; }
    keys_.set_text(key::GTCitation, proj_.name(crs));
    return true;
  }
  [[nodiscard]] GeoKeys take() && { return std::move(keys_); }

 private:
  [[nodiscard]] PJ_TYPE type_of(PjPtr const& crs) const {
    return crs ? proj_.api().proj_get_type(crs.get()) : PJ_TYPE_UNKNOWN;
  }
  [[nodiscard]] PjPtr part_of(PjPtr const& crs, int index) const {
    return proj_.adopt(proj_.api().proj_crs_get_sub_crs(proj_.context(), crs.get(), index));
  }
  [[nodiscard]] PjPtr flat(PjPtr const& crs) const {
    return proj_.adopt(proj_.api().proj_crs_demote_to_2D(proj_.context(), nullptr, crs.get()));
  }
  [[nodiscard]] PjPtr base_of(PjPtr const& crs) const {
    return proj_.adopt(proj_.api().proj_crs_get_geodetic_crs(proj_.context(), crs.get()));
  }

  [[nodiscard]] bool is_code_of(int code, PjPtr const& crs) const {
    if (!is_key_code(code)) { return false; }
    PjPtr const official = proj_.from_epsg(code, PJ_CATEGORY_CRS);
    return official && type_of(official) == type_of(crs) && is_same_crs(official, crs, proj_);
  }

  // 0 if it has none. A CRS with its own name keeps it, and is described by its parameters.
  [[nodiscard]] int code_of(PjPtr const& crs) const {
    for (int const code : {proj_.epsg(crs), hint_}) {
      if (is_code_of(code, crs)) { return code; }
    }
    int const needed = has_no_name(proj_.name(crs)) ? kSureButForTheName : kSure;
    int found = proj_.identify(crs, needed);
    if (!is_code_of(found, crs) && type_of(crs) == PJ_TYPE_GEOGRAPHIC_2D_CRS) {
      found = proj_.identify(with_latitude_first(crs), needed);
    }
    return is_code_of(found, crs) ? found : 0;
  }

  // The axis order of nearly all registered CRSs: PROJ does not identify a CRS in another order with certainty.
  [[nodiscard]] PjPtr with_latitude_first(PjPtr const& crs) const {
    std::string wkt = wkt_without_axes(proj_.wkt(crs, PJ_WKT1_GDAL));
    if (!wkt.ends_with(']')) { return nullptr; }
    wkt.pop_back();
    return proj_.create(wkt + ",AXIS[\"Latitude\",NORTH],AXIS[\"Longitude\",EAST]]");
  }

  bool add_horizontal(PjPtr const& bound) {
    PjPtr const crs = unbound(bound, proj_);
    switch (type_of(crs)) {
      case PJ_TYPE_PROJECTED_CRS: return add_projected(crs, bound);
      case PJ_TYPE_GEOGRAPHIC_2D_CRS:
        keys_.set_code(key::GTModelType, kModelGeographic);
        return add_geodetic(crs, bound);
      case PJ_TYPE_GEOGRAPHIC_3D_CRS: return add_lifted(crs, crs);
      case PJ_TYPE_GEOCENTRIC_CRS: return add_geocentric(crs);
      case PJ_TYPE_ENGINEERING_CRS: return add_local(crs);
      default: return false;
    }
  }

  // For three dimensions: the two-dimensional CRS, and the geographic one, with its heights, as the vertical CRS.
  bool add_lifted(PjPtr const& crs, PjPtr const& geographic) {
    int const code = code_of(geographic);
    PjPtr const below = flat(crs);
    if (code == 0 || !below || type_of(below) == PJ_TYPE_GEOGRAPHIC_3D_CRS) { return false; }
    keys_.set_revision_1_0(false);
    keys_.set_code(key::Vertical, code);
    hint_ = 0;
    // GDAL omits the heights if the projection is defined by parameters.
    return add_horizontal(below) && keys_.code(key::ProjectedCRS) != kUserDefined;
  }

  bool add_projected(PjPtr const& crs, PjPtr const& bound) {
    PjPtr const base = base_of(crs);
    if (type_of(base) == PJ_TYPE_GEOGRAPHIC_3D_CRS && !keys_.has(key::Vertical)) { return add_lifted(crs, base); }
    keys_.set_code(key::GTModelType, kModelProjected);
    auto const wkt = parse_wkt(proj_.wkt(bound, PJ_WKT1_GDAL));
    if (int const code = code_of(crs); code != 0) {
      keys_.set_code(key::ProjectedCRS, code);
      return true;
    }
    // A PROJ string in the WKT means that WKT 1, and so the keys, cannot express the CRS. GDAL reads parameters in any
    // angular unit as degrees.
    if (!wkt || wkt->keyword != "PROJCS" || wkt->child("EXTENSION") != nullptr || !has_degrees(wkt->child("GEOGCS"))) {
      return false;
    }
    keys_.set_code(key::ProjectedCRS, kUserDefined);
    keys_.set_text(key::GTCitation, std::string(wkt->name()));
    keys_.set_text(key::ProjectedCitation, std::string(wkt->name()));
    hint_ = 0;
    return projection_keys(*wkt, keys_) && add_linear_unit(wkt->child("UNIT")) && add_geodetic(base, bound);
  }

  bool add_linear_unit(WktNode const* unit) {
    auto const size = unit == nullptr ? std::nullopt : unit->number(1);
    if (!size || !(*size > 0)) { return false; }
    int const code = length_unit_code(*unit);
    keys_.set_code(key::ProjLinearUnits, code);
    if (code == kUserDefined) { keys_.set_number(key::ProjLinearUnitSize, *size); }
    bool const shifted = keys_.number(key::ProjFalseEasting).value_or(0) != 0 ||
                         keys_.number(key::ProjFalseNorthing).value_or(0) != 0 ||
                         keys_.number(key::ProjFalseOriginEasting).value_or(0) != 0 ||
                         keys_.number(key::ProjFalseOriginNorthing).value_or(0) != 0;
    if (shifted && code != kMetre) { keys_.set_code(kProjLinearUnitsInterpCorrect, 1); }
    return true;
  }

  bool add_geodetic(PjPtr const& crs, PjPtr const& bound) {
    auto const whole = parse_wkt(proj_.wkt(bound, PJ_WKT1_GDAL));
    WktNode const* const wkt = !whole ? nullptr : whole->keyword == "GEOGCS" ? &*whole : whole->child("GEOGCS");
    WktNode const* const datum = wkt == nullptr ? nullptr : wkt->child("DATUM");
    WktNode const* const shift = datum == nullptr ? nullptr : datum->child("TOWGS84");
    if (shift != nullptr) {
      std::vector<double> parameters;
      for (std::size_t i = 0; i < shift->children.size(); ++i) { parameters.push_back(shift->number(i).value_or(0)); }
      keys_.set_numbers(key::GeogTOWGS84, std::move(parameters));
    }
    if (int const code = code_of(crs); code != 0) {
      keys_.set_code(key::GeodeticCRS, code);
      return true;
    }
    return datum != nullptr && add_geodetic_parameters(*wkt, *datum);
  }

  bool add_geodetic_parameters(WktNode const& wkt, WktNode const& datum) {
    WktNode const* const ellipsoid = datum.child("SPHEROID");
    WktNode const* const meridian = wkt.child("PRIMEM");
    WktNode const* const unit = wkt.child("UNIT");
    if (ellipsoid == nullptr || meridian == nullptr || unit == nullptr) { return false; }
    auto const major = ellipsoid->number(1), flattening = ellipsoid->number(2);
    auto const longitude = meridian->number(1), unit_size = unit->number(1);
    if (!major || !flattening || !longitude || !unit_size) { return false; }

    keys_.set_code(key::GeodeticCRS, kUserDefined);
    std::string citation = "GCS Name = " + std::string(wkt.name());
    keys_.set_code(key::GeodeticDatum, code_or_user_defined(datum.epsg()));
    if (!is_key_code(datum.epsg())) { citation += "|Datum = " + std::string(datum.name()); }
    keys_.set_code(key::Ellipsoid, code_or_user_defined(ellipsoid->epsg()));
    if (!is_key_code(ellipsoid->epsg())) { citation += "|Ellipsoid = " + std::string(ellipsoid->name()); }
    keys_.set_number(key::EllipsoidSemiMajorAxis, *major);
    if (*flattening == 0) {
      keys_.set_number(key::EllipsoidSemiMinorAxis, *major);
    } else {
      keys_.set_number(key::EllipsoidInvFlattening, *flattening);
    }
    citation += "|Primem = " + std::string(meridian->name());
    if (*longitude != 0) {
      keys_.set_code(key::PrimeMeridian, code_or_user_defined(meridian->epsg()));
      if (!is_key_code(meridian->epsg())) { keys_.set_number(key::PrimeMeridianLongitude, *longitude); }
    }
    int const unit_code = is_degree(unit_size) ? kDegree : unit->epsg();
    keys_.set_code(key::GeogAngularUnits, code_or_user_defined(unit_code));
    if (!is_key_code(unit_code)) {
      keys_.set_number(key::GeogAngularUnitSize, *unit_size);
      citation += "|AUnits = " + std::string(unit->name());
    }
    keys_.set_text(key::GeodeticCitation, citation + '|');
    return true;
  }

  bool add_geocentric(PjPtr const& crs) {
    keys_.set_code(key::GTModelType, kModelGeocentric);
    if (int const code = code_of(crs); code != 0) {
      keys_.set_code(key::GeodeticCRS, code);
      return true;
    }
    auto const wkt = parse_wkt(proj_.wkt(crs, PJ_WKT1_GDAL));
    WktNode const* const datum = wkt ? wkt->child("DATUM") : nullptr;
    WktNode const* const unit = wkt ? wkt->child("UNIT") : nullptr;
    if (datum == nullptr || unit == nullptr || !unit->number(1)) { return false; }
    keys_.set_text(key::GTCitation, std::string(wkt->name()));
    int const unit_code = length_unit_code(*unit);
    keys_.set_code(key::GeogLinearUnits, unit_code);
    if (unit_code == kUserDefined) { keys_.set_number(key::GeogLinearUnitSize, *unit->number(1)); }
    WktNode geographic = *wkt;  // the same datum and meridian, in degrees
    for (auto& child : geographic.children) {
      if (child.keyword == "UNIT") { child = *parse_wkt("UNIT[\"degree\",0.0174532925199433]"); }
    }
    return add_geodetic_parameters(geographic, *datum);
  }

  bool add_local(PjPtr const& crs) {
    auto const wkt = parse_wkt(proj_.wkt(crs, PJ_WKT1_GDAL));
    if (!wkt || wkt->keyword != "LOCAL_CS") { return false; }
    WktNode const* const unit = wkt->child("UNIT");
    // The CRS that readers assume for a file without one.
    if (has_no_name(wkt->name()) && unit != nullptr && has_no_name(unit->name())) { return true; }
    keys_.set_code(key::GTModelType, kUserDefined);
    keys_.set_text(key::GTCitation, std::string(wkt->name()));
    return add_linear_unit(unit);
  }

  bool add_vertical(PjPtr const& crs) {
    if (type_of(crs) != PJ_TYPE_VERTICAL_CRS) { return false; }
    if (int const code = code_of(crs); code != 0) {
      keys_.set_code(key::Vertical, code);
      return true;
    }
    auto const wkt = parse_wkt(proj_.wkt(crs, PJ_WKT1_GDAL));
    WktNode const* const datum = wkt ? wkt->child("VERT_DATUM") : nullptr;
    WktNode const* const unit = wkt ? wkt->child("UNIT") : nullptr;
    if (datum == nullptr || unit == nullptr) { return false; }
    keys_.set_code(key::Vertical, kUserDefined);
    keys_.set_text(key::VerticalCitation, std::string(wkt->name()));
    keys_.set_code(key::VerticalDatum, code_or_user_defined(datum->epsg()));
    keys_.set_code(key::VerticalUnits, length_unit_code(*unit));
    return true;
  }

  GeoKeys keys_;
  int hint_;
  ProjSession const& proj_;
};

// As WKT 1 without axes, which has neither an axis order nor datum ensembles.
PjPtr plain(PjPtr const& crs, ProjSession const& proj) {
  std::string const wkt = proj.wkt(crs, PJ_WKT1_GDAL);
  return wkt.empty() ? nullptr : proj.create(wkt_without_axes(wkt));
}

}  // namespace

bool is_same_crs(PjPtr const& a, PjPtr const& b, ProjSession const& proj) {
  if (!a || !b) { return false; }
  auto const same = [&](PjPtr const& x, PjPtr const& y) {
    return proj.api().proj_is_equivalent_to(x.get(), y.get(), PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) != 0;
  };
  if (same(a, b)) { return true; }
  PjPtr const plain_a = plain(a, proj), plain_b = plain(b, proj);
  return plain_a && plain_b && same(plain_a, plain_b);
}

std::optional<GeoKeys> keys_from_crs(PjPtr const& crs, int hint, ProjSession const& proj) {
  KeysMaker maker(hint, proj);
  if (!maker.add(crs)) { return std::nullopt; }
  GeoKeys keys = std::move(maker).take();
  PjPtr const read = crs_from_keys(keys, proj).crs;
  if (!is_same_crs(unbound(read, proj), unbound(crs, proj), proj)) { return std::nullopt; }
  return keys;
}

}  // namespace terrazzo::geo
