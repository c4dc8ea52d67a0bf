// SPDX-License-Identifier: Apache-2.0
//
// Compares a float with the nodata value, for masks, statistics and overviews, by GDAL's rule: the value is often
// stored with fewer digits than the pixels have.
#pragma once

#include "base/host_device.hpp"

#include <cmath>
#include <concepts>
#include <limits>

namespace terrazzo {

// Near the largest float the sum is infinite, and every value near it is nodata. NaN never matches: such pixels are NaN
// already.
template <std::floating_point Float>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_float_nodata(Float value, Float nodata) noexcept {
  constexpr auto kEpsilon = static_cast<Float>(std::numeric_limits<float>::epsilon());
  // Evaluates both parts, so that loops have no branch.
  int const equal = value == nodata;
  int const close = std::fabs(value - nodata) < kEpsilon * std::fabs(value + nodata) * static_cast<Float>(2);
  return (equal | close) != 0;
}

}  // namespace terrazzo
