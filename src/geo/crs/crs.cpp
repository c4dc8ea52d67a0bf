// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/crs.hpp"

#include "base/letter_case.hpp"
#include "geo/crs/citation.hpp"
#include "geo/crs/crs_text.hpp"
#include "geo/crs/epsg_kinds.hpp"
#include "geo/metadata/utf8.hpp"
#include "geo/number.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace terrazzo::geo {
namespace {

using Kind = Crs::Kind;

constexpr int kModelProjected = 1, kModelGeographic = 2, kModelGeocentric = 3;
constexpr int kWgs84 = 4326, kWgs84Ellipsoidal = 4979;

int code_or_zero(GeoKeys const& keys, std::uint16_t key) {
  int const code = keys.code(key).value_or(0);
  return code < kUserDefined ? code : 0;  // codes from 32768 are private
}

constexpr std::array<std::pair<std::string_view, Kind>, 17> kWktKinds = {{
    {"PROJCS", Kind::projected},
    {"PROJCRS", Kind::projected},
    {"PROJECTEDCRS", Kind::projected},
    {"GEOGCS", Kind::geographic},
    {"GEOGCRS", Kind::geographic},
    {"GEOGRAPHICCRS", Kind::geographic},
    {"GEODCRS", Kind::geographic},
    {"GEODETICCRS", Kind::geographic},
    {"GEOCCS", Kind::geocentric},
    {"COMPD_CS", Kind::compound},
    {"COMPOUNDCRS", Kind::compound},
    {"VERT_CS", Kind::vertical},
    {"VERTCRS", Kind::vertical},
    {"VERTICALCRS", Kind::vertical},
    {"LOCAL_CS", Kind::local},
    {"ENGCRS", Kind::local},
    {"ENGINEERINGCRS", Kind::local},
}};

// The code in the AUTHORITY or ID of the CRS itself: the one that is not inside another element.
std::optional<int> outermost_epsg(std::string_view wkt) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < wkt.size(); ++i) {
    char const c = wkt[i];
    if (c == '"') { quoted = !quoted; }
    if (quoted) { continue; }
    if (c == ']' || c == ')') { depth -= depth > 0 ? 1 : 0; }
    if (c != '[' && c != '(') { continue; }
    ++depth;
    if (depth != 2) { continue; }
    std::string_view const before = wkt.substr(0, i);
    if (!before.ends_with("AUTHORITY") && !before.ends_with("ID")) { continue; }
    constexpr std::string_view kEpsg = "\"EPSG\",";
    std::string_view body = wkt.substr(i + 1);
    if (!body.starts_with(kEpsg)) { continue; }
    body.remove_prefix(kEpsg.size());
    if (body.starts_with('"')) { body.remove_prefix(1); }
    if (int const code = integer_or_zero(body); code > 0) { return code; }
  }
  return std::nullopt;
}

Crs describe_text(std::string_view text) {
  constexpr std::size_t kMaxNameBytes = 4096;
  Crs crs;
  constexpr std::string_view kEpsg = "EPSG:";
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  bool const is_definition = is_crs_definition(text);
  // A text that is not a definition is kept as a text: a writer would pass WKT to PROJ.
  if (!is_definition) {
    crs.name = to_utf8(std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1).substr(0, kMaxNameBytes)));
  }
  if (is_definition && starts_with_ignoring_case(text, kEpsg)) {
    if (int const code = integer_or_zero(text.substr(kEpsg.size())); code > 0) { crs.epsg = code; }
  }
  auto const open = text.find_first_of("[(");
  if (open == std::string_view::npos) { return crs; }
  std::string_view keyword = text.substr(0, open);
  keyword = keyword.substr(0, keyword.find_last_not_of(" \t\r\n") + 1);
  for (auto const& [name, kind] : kWktKinds) {
    if (equals_ignoring_case(keyword, name)) { crs.kind = kind; }
  }
  if (crs.kind == Kind::unknown || !is_definition) { return crs; }
  auto const first_quote = text.find('"', open);
  auto const second_quote = first_quote == std::string_view::npos ? first_quote : text.find('"', first_quote + 1);
  if (second_quote != std::string_view::npos) {
    crs.name = text.substr(first_quote + 1, second_quote - first_quote - 1);
  }
  crs.epsg = outermost_epsg(text);
  crs.wkt = text;
  return crs;
}

std::string cited_name(GeoKeys const& keys, CrsCodes const& codes) {
  auto const text = [&](std::uint16_t key) { return keys.text(key) == nullptr ? std::string() : *keys.text(key); };
  std::array<std::string, 2> const candidates = codes.kind == Kind::projected
                                                    ? std::array{text(key::ProjectedCitation), text(key::GTCitation)}
                                                    : std::array{text(key::GeodeticCitation), text(key::GTCitation)};
  for (auto const& candidate : candidates) {
    auto const parts = parse_citation(candidate);
    std::string const& name = codes.kind == Kind::projected ? parts.projected_name : parts.geographic_name;
    if (!name.empty()) { return name; }
    if (!parts.structured && !candidate.empty()) { return clean_citation(candidate); }
  }
  return {};
}

Crs describe_keys(GeoKeys const& keys) {
  auto const codes = crs_codes(keys);
  Crs crs;
  crs.kind = codes.kind;
  crs.name = cited_name(keys, codes);
  int const horizontal = codes.kind == Kind::projected ? codes.projected : codes.geodetic;
  if (horizontal != 0 && codes.kind != Kind::local) { crs.horizontal_epsg = horizontal; }
  if (codes.vertical != 0) { crs.vertical_epsg = codes.vertical; }
  bool const ellipsoidal =
      codes.vertical == kWgs84Ellipsoidal || (codes.vertical == 0 && codes.vertical_datum == kWgs84AsVerticalDatum);
  if (ellipsoidal) {
    if (codes.kind == Kind::geographic && codes.geodetic == kWgs84) { crs.epsg = kWgs84Ellipsoidal; }
  } else if (!codes.reports_vertical || !codes.has_vertical() || codes.kind == Kind::geocentric) {
    crs.epsg = crs.horizontal_epsg;
  } else if (horizontal == 0 || epsg_kind(horizontal) != EpsgKind::unknown) {
    crs.kind = Kind::compound;
  }  // otherwise the kind stays that of the horizontal part: a writer needs it to choose the key of the code
  return crs;
}

}  // namespace

CrsCodes crs_codes(GeoKeys const& keys) {
  CrsCodes codes;
  codes.projected = code_or_zero(keys, key::ProjectedCRS);
  codes.geodetic = code_or_zero(keys, key::GeodeticCRS);
  int const model = keys.code(key::GTModelType).value_or(kUserDefined);
  if (model == kModelProjected || (model == kUserDefined && codes.projected != 0)) {
    codes.kind = Kind::projected;
  } else if (model == kModelGeographic) {
    codes.kind = Kind::geographic;
  } else if (model == kModelGeocentric) {
    codes.kind = Kind::geocentric;
  }

  codes.vertical = keys.code(key::Vertical).value_or(0);
  codes.vertical_datum = keys.code(key::VerticalDatum).value_or(0);
  codes.vertical_units = keys.code(key::VerticalUnits).value_or(0);
  codes.reports_vertical = !keys.is_revision_1_0();
  if (keys.is_revision_1_0()) {
    // The first specification listed codes of vertical datums as codes of vertical CRSs.
    constexpr int kEgm96Datum = 5171, kEgm96Height = 5773;
    if (codes.vertical >= 5101 && codes.vertical <= 5112 && codes.vertical_datum == 0) {
      codes.vertical_datum = codes.vertical;
      codes.vertical += 600;
    } else if (codes.vertical == kEgm96Datum) {
      codes.vertical_datum = kEgm96Datum;
      codes.vertical = kEgm96Height;
    }
  }
  if (codes.vertical >= 5001 && codes.vertical <= 5033 && codes.vertical_datum == 0) {
    codes.vertical_datum = codes.vertical + 1000;  // heights above the ellipsoid of that geodetic datum
    codes.vertical = 0;
  }
  if (codes.vertical > kUserDefined || codes.vertical_datum > kUserDefined || codes.vertical_units > kUserDefined) {
    codes.vertical = codes.vertical_datum = codes.vertical_units = 0;  // private codes
  }
  if (codes.vertical == kUserDefined) {
    codes.vertical = 0;
    if (codes.vertical_units == 0) { codes.vertical_units = 9001; }
  }
  return codes;
}

std::optional<Crs> describe_crs(CrsDefinition const& definition) {
  if (!definition.text.empty()) { return describe_text(definition.text); }
  if (definition.keys) { return describe_keys(*definition.keys); }
  return std::nullopt;
}

std::string_view length_unit_name(int code) noexcept {
  switch (code) {
    case 9001: return "metre";
    case 9002: return "foot";
    case 9003: return "US survey foot";
    default: return "";
  }
}

}  // namespace terrazzo::geo
