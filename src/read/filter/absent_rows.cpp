// SPDX-License-Identifier: Apache-2.0
#include "read/filter/absent_rows.hpp"

#include <algorithm>

namespace terrazzo::reading {

AbsentRows::AbsentRows(ReadPlan::Impl const& plan, Window const& window)
    : plan_(plan),
      window_(window),
      first_column_(window.column / plan.level->image.block_width_px),
      columns_((window.column + (window.width - 1)) / plan.level->image.block_width_px - first_column_ + 1) {}

bool AbsentRows::cover(std::uint32_t first, std::uint32_t last) {
  std::uint32_t const from = block_row(first), end = block_row(last - 1) + 1;
  if (present_ && *present_ >= from && *present_ < end) { return false; }
  if (from < absent_from_ || from > absent_end_) { absent_from_ = absent_end_ = from; }
  for (; absent_end_ < end; ++absent_end_) {
    if (!is_absent(absent_end_)) {
      present_ = absent_end_;
      return false;
    }
  }
  return true;
}

std::uint64_t AbsentRows::count(std::uint32_t first, std::uint32_t last) {
  std::uint32_t const from = std::max(block_row(first), counted_), end = block_row(last - 1) + 1;
  if (from >= end) { return 0; }
  counted_ = end;
  return std::uint64_t{end - from} * columns_ * plan_.planes.size();
}

std::uint32_t AbsentRows::block_row(std::uint32_t row) const noexcept {
  return (window_.row + row) / plan_.level->image.block_height_px;
}

bool AbsentRows::is_absent(std::uint32_t block_row) const {
  for (std::uint32_t const plane : plan_.planes) {
    for (std::uint32_t column = first_column_; column < first_column_ + columns_; ++column) {
      TileId const id{.column = column, .row = block_row, .plane = plane};
      if (plan_.level->index.range(plan_.block_number(id)).size_bytes != 0) { return false; }
    }
  }
  return true;
}

}  // namespace terrazzo::reading
