// SPDX-License-Identifier: Apache-2.0
//
// GeoKeys of any content: two bytes say how many of the rest are the directory (shorts) and how many of what is left
// are doubles; the remainder is text.
#include "geo/crs/crs.hpp"
#include "geo/crs/projection.hpp"
#include "geo/describe.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

std::span<std::byte const> take(std::span<std::byte const>& from, std::size_t bytes) {
  auto const part = from.first(std::min(bytes, from.size()));
  from = from.subspan(part.size());
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo;
  std::span<std::byte const> rest(reinterpret_cast<std::byte const*>(data), size);
  if (rest.size() < 2) { return 0; }
  auto const short_count = static_cast<std::size_t>(rest[0]) * 4;
  auto const double_count = static_cast<std::size_t>(rest[1]);
  rest = rest.subspan(2);
  auto const shorts = take(rest, short_count * 2);
  auto const doubles = take(rest, double_count * 8);

  testing::TiffBuilder tiff;
  auto const add = [&](std::uint16_t tag, std::uint16_t type, std::size_t unit, std::span<std::byte const> bytes) {
    if (!bytes.empty()) {
      tiff.raw(tag, type, bytes.size() / unit, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
  };
  add(tiff::tag::ModelPixelScale, 12, 8, doubles);
  add(tiff::tag::ModelTiepoint, 12, 8, doubles);
  add(tiff::tag::GeoKeyDirectory, 3, 2, shorts);
  add(tiff::tag::GeoDoubleParams, 12, 8, doubles);
  add(tiff::tag::GeoAsciiParams, 2, 1, rest);
  tiff.shorts(tiff::tag::ImageWidth, {1});

  Info info;
  info.width = info.height = 1;
  info.bands.resize(1);
  MemoryBudget budget(std::uint64_t{1} << 30);
  auto const definition = geo::describe(tiff.directory(), {}, info, budget);
  if (definition.keys) {
    auto const projection = geo::projection_wkt(*definition.keys);
    if (projection && projection->projection.empty()) { __builtin_trap(); }
  }
  return 0;
}
