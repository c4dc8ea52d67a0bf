// SPDX-License-Identifier: Apache-2.0
//
// Values of a raster at points: for each point, the pixel that contains it.
//
//   std::vector<terrazzo::Point> const huts = {{500010, 4199990}, {500350, 4199020}};
//   terrazzo::SampleResult const heights = terrazzo::sample(dem, huts, {.dtype = terrazzo::DType::f32});
//   if (heights.state(0, 1) == terrazzo::SampleState::valid) { use(heights.values.view<float>()(0, 0, 1)); }
//
// Points are sorted by tile, so that each tile is decoded once for all its points, and tiles are decoded in parallel.
// Beyond the result, a point takes 28 bytes of memory.
#pragma once

#include "terrazzo/coordinates.hpp"
#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

enum class SampleState : std::uint8_t {
  valid,
  missing,  // nodata, or invalid by mask or alpha band (read_mask())
  outside,  // the point is outside the raster, or not finite
};

struct SampleResult {
  // bands x 1 x points, in the order of the points. Points outside the raster have 0; missing pixels have the value
  // that read() gives them.
  HostArray values;
  std::vector<SampleState> states{};  // bands x points

  // `band` is an index of the request's bands, from 0. REQUIRES: both are in range.
  [[nodiscard]] SampleState state(std::uint32_t band, std::size_t point) const noexcept {
    return states[std::size_t{band} * values.width() + point];
  }
};

// `points` are in the raster's CRS (points_in() transforms others). `request` selects bands, level, type and unpacking;
// its window and target size must be empty. The host engine decodes. Progress counts tiles. `usage` errors: a raster
// without an invertible transform, and those of read().
[[nodiscard]] SampleResult sample(Dataset const& dataset, std::span<Point const> points,
                                  ReadRequest const& request = {}, ReadReport* report = nullptr);

}  // namespace terrazzo
#pragma GCC visibility pop
