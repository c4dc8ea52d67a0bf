// SPDX-License-Identifier: Apache-2.0
//
// Count, extremes, mean and spread of one row of one band: code that host and device share, so that statistics have the
// same bits on both. A row is added up from left to right; rows are merged from top to bottom.
#pragma once

#include "base/float_nodata.hpp"
#include "base/host_device.hpp"
#include "base/moments.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace terrazzo::tile {

// Compares by value: zeros of either sign are equal, and so are floats that differ in digits that text loses. NaN is
// never equal.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_nodata_sample(T sample, T nodata) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return is_float_nodata(half_to_float(sample.bits), half_to_float(nodata.bits));
  } else if constexpr (std::is_floating_point_v<T>) {
    return is_float_nodata(sample, nodata);
  } else {
    return sample == nodata;
  }
}

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double value_of_sample(T sample) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(sample.bits);
  } else {
    return static_cast<double>(sample);
  }
}

// Plain sums of a row are precise enough: rows are short, and their moments are merged.
struct RowSums {
  std::uint64_t count = 0;
  double shift = 0, sum = 0, squares = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity();

  // NaN does not count.
  TERRAZZO_HOST_DEVICE void add(double value) noexcept {
    if (value != value) { return; }
    if (count == 0) { shift = value; }
    ++count;
    double const distance = value - shift;
    sum += distance;
    squares += distance * distance;
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE Moments moments() const noexcept {
    Moments result;
    if (count == 0) { return result; }
    auto const n = static_cast<double>(count);
    result.count = count;
    result.mean = shift + sum / n;
    result.m2 = std::max(0.0, squares - sum * sum / n);
    result.minimum = result.finite_minimum = minimum;
    result.maximum = result.finite_maximum = maximum;
    return result;
  }
};

}  // namespace terrazzo::tile
