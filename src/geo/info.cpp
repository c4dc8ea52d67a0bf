// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/info.hpp"

#include "geo/metadata/metadata.hpp"

namespace terrazzo {

std::string const* Metadata::find(std::string const& key, std::string const& domain) const {
  auto const items = domains.find(domain);
  if (items == domains.end()) { return nullptr; }
  for (auto const& item : items->second) {
    if (item.first == key) { return &item.second; }
  }
  return nullptr;
}

bool BandInfo::is_premultiplied() const {
  std::string const* const kind = metadata.find(geo::kAlphaItem, geo::kImageStructure);
  return kind != nullptr && *kind == geo::kPremultiplied;
}

std::string_view to_string(ColorInterpretation color) noexcept {
  switch (color) {
    case ColorInterpretation::undefined: return "undefined";
    case ColorInterpretation::gray: return "gray";
    case ColorInterpretation::palette: return "palette";
    case ColorInterpretation::red: return "red";
    case ColorInterpretation::green: return "green";
    case ColorInterpretation::blue: return "blue";
    case ColorInterpretation::alpha: return "alpha";
    case ColorInterpretation::hue: return "hue";
    case ColorInterpretation::saturation: return "saturation";
    case ColorInterpretation::lightness: return "lightness";
    case ColorInterpretation::cyan: return "cyan";
    case ColorInterpretation::magenta: return "magenta";
    case ColorInterpretation::yellow: return "yellow";
    case ColorInterpretation::black: return "black";
    case ColorInterpretation::y: return "ycbcr_y";
    case ColorInterpretation::cb: return "ycbcr_cb";
    case ColorInterpretation::cr: return "ycbcr_cr";
    case ColorInterpretation::other: return "other";
  }
  return "undefined";
}

std::string_view to_string(MaskKind kind) noexcept {
  switch (kind) {
    case MaskKind::all_valid: return "all_valid";
    case MaskKind::nodata: return "nodata";
    case MaskKind::alpha: return "alpha";
    case MaskKind::internal: return "internal";
    case MaskKind::external: return "external";
  }
  return "all_valid";
}

}  // namespace terrazzo
