// SPDX-License-Identifier: Apache-2.0
//
// Well-known text of any content, and the keys of the projection it may name: what is written is read as the same.
#include "geo/crs/projection.hpp"
#include "geo/crs/wkt.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

// Every number of the keys is finite: the reader replaces others by defaults.
bool is_finite(terrazzo::geo::WktNode const& projcs) {
  for (auto const& node : projcs.children) {
    if (node.keyword == "PARAMETER" && !std::isfinite(node.number(1).value_or(0))) { return false; }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo::geo;
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  static_cast<void>(wkt_without_axes(std::string(text)));
  auto const wkt = parse_wkt(text);
  if (!wkt) { return 0; }
  static_cast<void>(wkt->name());
  static_cast<void>(wkt->epsg());
  GeoKeys keys;
  if (!projection_keys(*wkt, keys) || !is_finite(*wkt)) { return 0; }
  auto const once = projection_wkt(keys);
  if (!once) { __builtin_trap(); }
  GeoKeys again;
  if (!projection_keys(*parse_wkt("PROJCS[\"x\"," + once->projection + "]"), again)) { __builtin_trap(); }
  if (projection_wkt(again)->projection != once->projection) { __builtin_trap(); }
  return 0;
}
