// SPDX-License-Identifier: Apache-2.0
#include "geo/coordinates/crs_transform.hpp"
#include "geo/crs/proj_library.hpp"
#include "terrazzo/coordinates.hpp"
#include "terrazzo/error.hpp"

#include <optional>

namespace terrazzo {
namespace {

// nullopt if PROJ is missing or does not understand one of them.
std::optional<bool> ask_proj(Info const& a, Info const& b) {
  if (geo::proj_api() == nullptr) { return std::nullopt; }
  geo::ProjSession const proj;
  if (!proj.has_database()) { return std::nullopt; }
  try {
    auto const first = geo::raster_crs(a, proj), second = geo::raster_crs(b, proj);
    return proj.api().proj_is_equivalent_to(first.get(), second.get(), PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) !=
           0;
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::usage) { throw; }
    return std::nullopt;
  }
}

bool has_same_fields(Crs const& a, Crs const& b) {
  return a.kind == b.kind && a.epsg == b.epsg && a.horizontal_epsg == b.horizontal_epsg && a.name == b.name &&
         a.wkt == b.wkt && a.projjson == b.projjson;
}

}  // namespace

bool same_crs(Info const& a, Info const& b) {
  auto const &first = a.georeference.crs, &second = b.georeference.crs;
  if (!first || !second) { return first.has_value() == second.has_value(); }
  if (first->epsg && first->epsg == second->epsg) { return true; }
  return ask_proj(a, b).value_or(has_same_fields(*first, *second));
}

}  // namespace terrazzo
