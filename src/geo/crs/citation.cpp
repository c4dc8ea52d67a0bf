// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/citation.hpp"

#include "geo/number.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace terrazzo::geo {
namespace {

constexpr std::string_view kImagine = "IMAGINE GeoTIFF";

struct Part {
  std::string_view name;
  std::string Citation::*field;
};
constexpr std::array kParts = {
    Part{"PCS Name = ", &Citation::projected_name},
    Part{"Projection Name = ", &Citation::projected_name},
    Part{"GCS Name = ", &Citation::geographic_name},
    Part{"Datum = ", &Citation::datum},
    Part{"Ellipsoid = ", &Citation::ellipsoid},
    Part{"Primem = ", &Citation::prime_meridian},
    Part{"AUnits = ", &Citation::angular_units},
    Part{"LUnits = ", &Citation::linear_units},
    Part{"GeoTIFF Units = ", nullptr},
    Part{"Units = ", &Citation::linear_units},
};

std::string trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) { return {}; }
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Imagine writes its copyright and version, which end in '$', before the text.
std::string_view after_imagine_banner(std::string_view text) {
  if (text.find(kImagine) == std::string_view::npos) { return text; }
  auto const dollar = text.find_last_of('$');
  return dollar == std::string_view::npos ? text : text.substr(dollar + 1);
}

}  // namespace

Citation parse_citation(std::string_view text) {
  Citation citation;
  text = after_imagine_banner(text);
  while (!text.empty()) {
    auto const end = std::min(text.find_first_of("|\n"), text.size());
    std::string_view const item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (auto const& part : kParts) {
      auto const at = item.find(part.name);
      if (at == std::string_view::npos) { continue; }
      citation.structured = true;
      if (part.field != nullptr && (citation.*part.field).empty()) {
        citation.*part.field = trimmed(item.substr(at + part.name.size()));
      }
      break;
    }
  }
  return citation;
}

std::string clean_citation(std::string_view text) {
  std::string clean = trimmed(after_imagine_banner(text));
  std::replace(clean.begin(), clean.end(), '\n', ' ');
  return clean;
}

std::string_view esri_wkt(std::string_view citation) {
  constexpr std::string_view kMarker = "ESRI PE String = ";
  auto const at = citation.find(kMarker);
  return at == std::string_view::npos ? std::string_view{} : citation.substr(at + kMarker.size());
}

}  // namespace terrazzo::geo
