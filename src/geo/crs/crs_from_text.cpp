// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/complete_crs.hpp"
#include "geo/crs/crs.hpp"
#include "geo/crs/crs_text.hpp"
#include "geo/crs/proj_library.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"

#include <string>
#include <string_view>

namespace terrazzo {

using namespace geo;

namespace {

// The fields that the text spells out.
Crs crs_without_proj(std::string_view text) {
  Crs crs = *describe_crs({.text = std::string(text)});
  auto const first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') { crs.projjson = text; }
  if (!crs.epsg && crs.wkt.empty() && crs.projjson.empty()) {
    throw Error(ErrorKind::unsupported,
                "the CRS " + quoted_crs_text(text) + " is known only with PROJ and its database, which were not found");
  }
  return crs;
}

}  // namespace

Crs Crs::from(std::string_view text) {
  // PROJ would take a name for that of any CRS that contains it: "here" is found in "Sphere".
  if (!is_crs_definition(text) && !is_proj_string(text)) {
    throw Error(ErrorKind::usage, "the CRS " + quoted_crs_text(text) +
                                      " is not a self-contained definition; give EPSG:CODE, WKT, PROJJSON or a PROJ "
                                      "string that names no file");
  }
  if (proj_api() == nullptr) { return crs_without_proj(text); }
  ProjSession const proj;
  if (!proj.has_database()) { return crs_without_proj(text); }
  PjPtr const object = proj.create(typed_crs(text));
  if (!object) { throw Error(ErrorKind::usage, "PROJ does not understand the CRS " + quoted_crs_text(text)); }
  Crs crs;
  fill_crs(object, likely_epsg(object, proj), proj, crs);
  return crs;
}

}  // namespace terrazzo
