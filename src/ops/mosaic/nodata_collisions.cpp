// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/nodata_collisions.hpp"

#include "tile/convert.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace terrazzo::ops {

NodataCollisions::NodataCollisions(MosaicPlan::Impl const& plan, std::optional<Nodata> nodata)
    : plan_(plan), nodata_(std::move(nodata)) {}

// NaN is never valid.
bool NodataCollisions::are_possible(std::uint32_t input) const noexcept {
  return nodata_ && !std::isnan(nodata_->value) && !plan_.inputs.files[input].nodata;
}

void NodataCollisions::look(std::uint32_t input, Patch& patch, Window const& part, bool all_valid) {
  std::uint32_t found = first_.load(std::memory_order_relaxed);
  if (found <= input || !is_any(patch, part, all_valid)) { return; }
  while (input < found && !first_.compare_exchange_weak(found, input, std::memory_order_relaxed)) {}
}

bool NodataCollisions::is_any(Patch& patch, Window const& part, bool all_valid) const {
  tile::ValueTransform marker;
  marker.mask_nodata = true;
  marker.nodata = nodata_->value;
  marker.nodata_i64 = nodata_->exact_i64;
  marker.nodata_u64 = nodata_->exact_u64;
  std::vector<std::uint8_t> differs(part.width);
  for (std::uint32_t band = 0; band < patch.format().bands; ++band) {
    if (patch.format().alpha == band) { continue; }
    for (std::uint32_t row = part.row; row < part.row + part.height; ++row) {
      find_valid(patch.format().dtype, patch.samples(band, row, part.column), marker, differs);
      auto const valid = patch.valid(patch.plane_of(band), row, part.column, part.width);
      for (std::size_t i = 0; i < differs.size(); ++i) {
        if (differs[i] == 0 && (all_valid || valid[i] != 0)) { return true; }
      }
    }
  }
  return false;
}

std::optional<std::uint32_t> NodataCollisions::first_input() const noexcept {
  std::uint32_t const found = first_.load(std::memory_order_relaxed);
  return found == UINT32_MAX ? std::nullopt : std::optional(found);
}

}  // namespace terrazzo::ops
