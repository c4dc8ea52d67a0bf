// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/coordinates.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace terrazzo {
namespace {

// One past the last; 64 bits, because both numbers may have 32.
std::uint64_t end_column(Window const& window) noexcept { return std::uint64_t{window.column} + window.width; }
std::uint64_t end_row(Window const& window) noexcept { return std::uint64_t{window.row} + window.height; }

std::uint32_t length(std::uint64_t first, std::uint64_t end) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(end - first, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

bool is_empty(BoundingBox const& box) noexcept { return !(box.xmin < box.xmax && box.ymin < box.ymax); }

BoundingBox intersection(BoundingBox const& a, BoundingBox const& b) noexcept {
  if (is_empty(a) || is_empty(b)) { return {}; }
  BoundingBox const common{std::max(a.xmin, b.xmin), std::max(a.ymin, b.ymin), std::min(a.xmax, b.xmax),
                           std::min(a.ymax, b.ymax)};
  return is_empty(common) ? BoundingBox{} : common;
}

BoundingBox united(BoundingBox const& a, BoundingBox const& b) noexcept {
  if (is_empty(a)) { return is_empty(b) ? BoundingBox{} : b; }
  if (is_empty(b)) { return a; }
  return {std::min(a.xmin, b.xmin), std::min(a.ymin, b.ymin), std::max(a.xmax, b.xmax), std::max(a.ymax, b.ymax)};
}

bool contains(BoundingBox const& outer, BoundingBox const& inner) noexcept {
  return !is_empty(outer) && !is_empty(inner) && outer.xmin <= inner.xmin && outer.ymin <= inner.ymin &&
         outer.xmax >= inner.xmax && outer.ymax >= inner.ymax;
}

bool contains(BoundingBox const& box, Point const& point) noexcept {
  return !is_empty(box) && box.xmin <= point.x && point.x <= box.xmax && box.ymin <= point.y && point.y <= box.ymax;
}

BoundingBox expanded(BoundingBox const& box, double margin) noexcept {
  return {box.xmin - margin, box.ymin - margin, box.xmax + margin, box.ymax + margin};
}

bool is_empty(Window const& window) noexcept { return window.width == 0 || window.height == 0; }

Window intersection(Window const& a, Window const& b) noexcept {
  std::uint32_t const column = std::max(a.column, b.column), row = std::max(a.row, b.row);
  std::uint64_t const column_end = std::min(end_column(a), end_column(b)), row_end = std::min(end_row(a), end_row(b));
  if (is_empty(a) || is_empty(b) || column_end <= column || row_end <= row) { return {}; }
  return {column, row, length(column, column_end), length(row, row_end)};
}

Window united(Window const& a, Window const& b) noexcept {
  if (is_empty(a)) { return is_empty(b) ? Window{} : b; }
  if (is_empty(b)) { return a; }
  std::uint32_t const column = std::min(a.column, b.column), row = std::min(a.row, b.row);
  return {column, row, length(column, std::max(end_column(a), end_column(b))),
          length(row, std::max(end_row(a), end_row(b)))};
}

bool contains(Window const& outer, Window const& inner) noexcept {
  return !is_empty(inner) && intersection(outer, inner) == inner;
}

}  // namespace terrazzo
