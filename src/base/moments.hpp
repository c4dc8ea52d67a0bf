// SPDX-License-Identifier: Apache-2.0
//
// Count, extremes, mean and spread of numbers, in a form whose parts can be merged: Moments in floating point (Chan's
// update), IntegerSums exactly.
#pragma once

#include "base/host_device.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace terrazzo {

// Merging is not associative in the last bit, so callers merge rows in row order, never in the order of threads.
struct Moments {
  std::uint64_t count = 0;
  double mean = 0;
  double m2 = 0;  // sum of squared distances from the mean
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  // Range of the finite values, for histograms.
  double finite_minimum = std::numeric_limits<double>::infinity();
  double finite_maximum = -std::numeric_limits<double>::infinity();

  // Kernels call it too and get the same bits.
  TERRAZZO_HOST_DEVICE void merge(Moments const& other) noexcept {
    if (other.count == 0) { return; }
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    finite_minimum = std::min(finite_minimum, other.finite_minimum);
    finite_maximum = std::max(finite_maximum, other.finite_maximum);
    if (count == 0) {
      count = other.count;
      mean = other.mean;
      m2 = other.m2;
      return;
    }
    auto const n = static_cast<double>(count);
    auto const m = static_cast<double>(other.count);
    double const delta = other.mean - mean;
    mean += delta * (m / (n + m));
    m2 += other.m2 + delta * delta * (n * m / (n + m));
    count += other.count;
  }
};

using Int128 = __int128;
using Uint128 = unsigned __int128;

// Exact sums of integers up to 64 bits, independent of the order.
template <std::integral T>
struct IntegerSums {
  std::uint64_t count = 0;
  Int128 sum = 0;
  Uint128 squares_low = 0;          // the sum of squares has 192 bits
  std::uint64_t squares_high = 0;
  T minimum = std::numeric_limits<T>::max();
  T maximum = std::numeric_limits<T>::lowest();

  void add(T value) noexcept { add_times(value, 1); }

  // `times` equal values. REQUIRES: times == 1, or a value of at most 16 bits.
  void add_times(T value, std::uint64_t times) noexcept {
    if (times == 0) { return; }
    count += times;
    sum += static_cast<Int128>(value) * static_cast<Int128>(times);
    Int128 const wide = value;
    Uint128 const square =
        static_cast<Uint128>(wide < 0 ? -wide : wide) * static_cast<Uint128>(wide < 0 ? -wide : wide);
    add_square(square * times);
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }

  void merge(IntegerSums const& other) noexcept {
    count += other.count;
    sum += other.sum;
    squares_high += other.squares_high;
    add_square(other.squares_low);
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }

  [[nodiscard]] double mean() const noexcept {
    return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(count));
  }

  // Population value. Distances from an integer next to the mean are summed modulo 2^128, which is exact if
  // the true sum is below that; otherwise the spread is so large that the textbook formula is accurate enough.
  [[nodiscard]] double variance() const noexcept {
    if (count == 0) { return 0; }
    auto const n = static_cast<long double>(count);
    long double const spread = static_cast<long double>(maximum) - static_cast<long double>(minimum);
    if (spread * spread * n < 0x1p127L) {
      Int128 pivot = sum / static_cast<Int128>(count);
      if (sum < 0 && pivot * static_cast<Int128>(count) != sum) { --pivot; }
      auto const p = static_cast<Uint128>(pivot);
      Uint128 const distances = squares_low - 2 * p * static_cast<Uint128>(sum) + static_cast<Uint128>(count) * p * p;
      auto const remainder = static_cast<long double>(sum - pivot * static_cast<Int128>(count));  // 0 <= remainder < n
      return static_cast<double>((static_cast<long double>(distances) - remainder * remainder / n) / n);
    }
    long double const squares =
        static_cast<long double>(squares_high) * 0x1p128L + static_cast<long double>(squares_low);
    long double const exact_mean = static_cast<long double>(sum) / n;
    return static_cast<double>(std::max(0.0L, squares / n - exact_mean * exact_mean));
  }

 private:
  void add_square(Uint128 square) noexcept {
    squares_low += square;
    if (squares_low < square) { ++squares_high; }
  }
};

}  // namespace terrazzo
