// SPDX-License-Identifier: Apache-2.0
//
// Bilinear, cubic, cubic spline and Lanczos: weights that decrease with the distance, stretched by the ratio so that
// every source pixel contributes; first along rows, then along columns, both in double. If pixels are missing, the
// weights of the others are scaled up; kernels with negative weights require half of the window to be contiguous. The
// host computes the tables of weights, since the sine of another library differs in the last bit.
#pragma once

#include "base/host_device.hpp"
#include "tile/reduce_marker.hpp"
#include "tile/reduce_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace terrazzo::tile {

// Sums four terms at a time, then one by one.
template <class Term>
TERRAZZO_HOST_DEVICE inline void add_in_fours(double& sum, std::size_t count, Term const& term) noexcept {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) { sum += term(k) + term(k + 1) + term(k + 2) + term(k + 3); }
  for (; k < count; ++k) { sum += term(k); }
}

[[nodiscard]] inline double kernel_radius(Resampling method) noexcept {
  return method == Resampling::bilinear ? 1 : method == Resampling::lanczos ? 3 : 2;
}

[[nodiscard]] inline double kernel_weight(Resampling method, double x) noexcept {
  switch (method) {
    case Resampling::bilinear: return bilinear_weight(x);
    case Resampling::cubic: return cubic_weight(x);
    case Resampling::cubic_spline: return cubic_spline_weight(x);
    default: return lanczos_weight(x);
  }
}

// Pixels of the longest window along an axis.
[[nodiscard]] inline std::uint32_t longest_kernel_window(Resampling method, AxisMap const& map,
                                                         std::uint32_t source_size,
                                                         std::uint32_t result_size) noexcept {
  double const radius = kernel_radius(method);
  std::uint32_t longest = 0;
  for (std::uint32_t i = 0; i < result_size; ++i) {
    KernelWindow const window = kernel_window(i, map, radius, source_size);
    longest = std::max(longest, window.last - window.first);
  }
  return longest;
}

[[nodiscard]] inline std::uint32_t longest_kernel_window(Resampling method, std::uint32_t source_size,
                                                         std::uint32_t result_size) noexcept {
  return longest_kernel_window(method, AxisMap{static_cast<double>(source_size) / result_size}, source_size,
                               result_size);
}

// Windows and weights along one axis; weights[k * size + i] is the weight of the k-th pixel of window i.
struct KernelAxis {
  std::vector<std::uint32_t> first, count;
  std::vector<double> plain;  // not normalised, times `unit`
  std::vector<double> normalised;  // for a window without missing pixels: their sum is 1
  std::size_t size = 0;

  // `unit` is the weight of a valid pixel in a window with missing pixels: 255 in GDAL's masks of pixels, 1 in those of
  // rows.
  KernelAxis(Resampling method, std::uint32_t source_size, std::uint32_t result_size, double unit)
      : KernelAxis(method, AxisMap{static_cast<double>(source_size) / result_size}, source_size, result_size, unit) {}
  KernelAxis(Resampling method, AxisMap const& map, std::uint32_t source_size, std::uint32_t result_size, double unit)
      : first(result_size), count(result_size), size(result_size) {
    double const radius = kernel_radius(method);
    std::size_t const longest = longest_kernel_window(method, map, source_size, result_size);
    plain.resize(longest * size);
    normalised.resize(longest * size);
    for (std::uint32_t i = 0; i < result_size; ++i) {
      KernelWindow const window = kernel_window(i, map, radius, source_size);
      first[i] = window.first;
      count[i] = window.last - window.first;
      double x = window.start, sum = 0;
      for (std::size_t k = 0; k < count[i]; ++k, x += window.step) { plain[k * size + i] = kernel_weight(method, x); }
      add_in_fours(sum, count[i], [&](std::size_t k) { return plain[k * size + i]; });
      double const scale = sum != 0 ? 1.0 / sum : 1.0;
      for (std::size_t k = 0; k < count[i]; ++k) {
        normalised[k * size + i] = plain[k * size + i] * scale;
        plain[k * size + i] *= unit;
      }
    }
  }
};

constexpr double kColumnUnit = 255, kRowUnit = 1;

// A KernelAxis in the memory of the samples.
struct KernelAxisView {
  std::uint32_t const* first = nullptr;
  std::uint32_t const* count = nullptr;
  double const* plain = nullptr;
  double const* normalised = nullptr;
  std::size_t size = 0;
};

// Clamps overshoots to the limits of the type or of its used bits, and avoids the marker.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T finish_filtered(double value, Marker<T> const& marker) noexcept {
  using W = std::conditional_t<std::is_same_v<WorkedAs<T>, double>, double, float>;
  if constexpr (std::is_same_v<T, float>) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (std::fabs(value) <= std::numeric_limits<double>::max()) {
      value = value < -kLargest ? -kLargest : kLargest < value ? kLargest : value;
    }
  }
  value = value > marker.largest ? marker.largest : value;
  auto const worked = static_cast<W>(value);
  T const result = rounded_to<T>(worked);
  if (!marker.present) { return result; }
  bool hits = false;
  if constexpr (std::is_integral_v<T>) {
    hits = result == marker.value;
  } else {
    hits = static_cast<double>(worked) == convert_value<double>(marker.value);
  }
  return hits ? convert_value<T>(marker.avoided.instead) : result;
}

// Tracks the longest run of valid pixels in a window.
struct FoundPixels {
  std::uint32_t in_a_row = 0, longest = 0;

  TERRAZZO_HOST_DEVICE void add(bool is_there) noexcept {
    in_a_row = is_there ? in_a_row + 1 : 0;
    longest = in_a_row > longest ? in_a_row : longest;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool are_enough(std::uint32_t taps, bool has_negative_weights) const noexcept {
    return has_negative_weights ? longest >= taps / 2 : longest > 0;
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Single result samples

struct FilteredRow {
  bool found = false;
  double value = 0;
};

// One window of a row with missing pixels; value(k) and is_there(k) refer to its k-th pixel.
template <class Value, class IsThere>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline FilteredRow filter_gapped(KernelAxisView const& axis, std::uint32_t i,
                                                                    bool has_negative_weights, Value const& value,
                                                                    IsThere const& is_there) noexcept {
  std::uint32_t const taps = axis.count[i];
  FoundPixels found;
  double sum = 0, weight = 0;
  // Adds to the sum and returns the weight; weights are added in fours.
  auto const take = [&](std::uint32_t k) {
    bool const there = is_there(k);
    found.add(there);
    double const share = there ? axis.plain[k * axis.size + i] : 0.0;
    sum += (there ? value(k) : 0.0) * share;
    return share;
  };
  std::uint32_t k = 0;
  for (; k + 4 <= taps; k += 4) {
    double const w0 = take(k), w1 = take(k + 1), w2 = take(k + 2), w3 = take(k + 3);
    weight += w0 + w1 + w2 + w3;
  }
  for (; k < taps; ++k) { weight += take(k); }
  if (!found.are_enough(taps, has_negative_weights) || !(weight > 0)) { return {}; }
  return {true, sum / weight};
}

// GDAL's order of summation: two sums, of the first and of the second pair of every four; the remaining pixels are
// added to the first sum.
struct PairedSums {
  double first = 0, second = 0;

  TERRAZZO_HOST_DEVICE void add(double term, std::uint32_t k, std::uint32_t taps) noexcept {
    if (k < (taps & ~3U) && (k & 2U) != 0) {
      second += term;
    } else {
      first += term;
    }
  }
};

// Result samples of one column, `kRows` at a time: their windows overlap, and a source row is filtered once for all.
// `MayHaveGaps`: pixels of some bands may be missing.
template <class T, bool MayHaveGaps>
struct MakeFiltered {
  static constexpr std::uint32_t kRows = 4;
  ReduceTask task{};
  Marker<T> marker{};
  KernelAxisView columns{}, rows{};
  bool has_negative_weights = false;

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t band, std::uint32_t column, std::uint32_t row) const noexcept {
    std::uint32_t const last_row = task.first_row + task.row_count;
    std::uint32_t const made = last_row - row < kRows ? last_row - row : kRows;
    std::uint32_t first[kRows], taps[kRows];
    for (std::uint32_t j = 0; j < kRows; ++j) {
      first[j] = j < made ? rows.first[row + j] : 0;
      taps[j] = j < made ? rows.count[row + j] : 0;
    }
    // Both ends are non-decreasing from row to row.
    std::uint32_t const end = rows.first[row + made - 1] + rows.count[row + made - 1];
    if constexpr (MayHaveGaps) {
      if (task.validity(band, marker.present) != Validity::all) {
        return make_gapped(band, column, row, first, taps, end);
      }
    }
    make_whole(band, column, row, first, taps, end);
  }

 private:
  TERRAZZO_HOST_DEVICE void make_whole(std::uint32_t band, std::uint32_t column, std::uint32_t row,
                                       std::uint32_t const (&first)[kRows], std::uint32_t const (&taps)[kRows],
                                       std::uint32_t end) const noexcept {
    PairedSums sums[kRows];
    for (std::uint32_t r = first[0]; r < end; ++r) {
      double const value = whole_row(band, column, r);
      for (std::uint32_t j = 0; j < kRows; ++j) {
        std::uint32_t const k = r - first[j];  // wraps if the window starts later
        if (k < taps[j]) { sums[j].add(value * rows.normalised[k * rows.size + row + j], k, taps[j]); }
      }
    }
    for (std::uint32_t j = 0; j < kRows; ++j) {
      if (taps[j] == 0) { continue; }
      store_sample(task.result, band, column, row + j, finish_filtered<T>(sums[j].first + sums[j].second, marker));
    }
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE double whole_row(std::uint32_t band, std::uint32_t column,
                                                      std::uint32_t row) const noexcept {
    std::byte const* const pixels = task.source.at(band, columns.first[column], row);
    double const* const weights = columns.normalised + column;
    auto const term = [&](std::uint32_t k) {
      T const pixel = *reinterpret_cast<T const*>(pixels + k * task.source.pixel_stride_bytes);
      return convert_value<double>(pixel) * weights[k * columns.size];
    };
    std::uint32_t const count = columns.count[column];
    double sum = 0, other = 0;
    std::uint32_t k = 0;
    for (; k + 4 <= count; k += 4) {
      sum += term(k);
      sum += term(k + 1);
      other += term(k + 2);
      other += term(k + 3);
    }
    for (; k < count; ++k) { sum += term(k); }
    return sum + other;
  }

  TERRAZZO_HOST_DEVICE void make_gapped(std::uint32_t band, std::uint32_t column, std::uint32_t row,
                                        std::uint32_t const (&first)[kRows], std::uint32_t const (&taps)[kRows],
                                        std::uint32_t end) const noexcept {
    BandSamples<T> const sample{task.source, band};
    CountedSamples<T> const counted{task, task.validity(band, marker.present), band, marker.value};
    double sums[kRows] = {}, weights[kRows] = {};
    FoundPixels found[kRows];
    std::uint32_t const left = columns.first[column];
    for (std::uint32_t r = first[0]; r < end; ++r) {
      FilteredRow const filtered = filter_gapped(
          columns, column, has_negative_weights,
          [&](std::uint32_t k) { return convert_value<double>(sample(left + k, r)); },
          [&](std::uint32_t k) { return counted(left + k, r); });
      for (std::uint32_t j = 0; j < kRows; ++j) {
        std::uint32_t const k = r - first[j];
        if (k >= taps[j]) { continue; }
        double const share = filtered.found ? rows.plain[k * rows.size + row + j] : 0.0;
        found[j].add(filtered.found);
        sums[j] += filtered.value * share;
        weights[j] += share;
      }
    }
    for (std::uint32_t j = 0; j < kRows; ++j) {
      if (taps[j] == 0) { continue; }
      bool const enough = !has_negative_weights || found[j].are_enough(taps[j], true);
      store_sample(task.result, band, column, row + j,
                   enough && weights[j] > 0 ? finish_filtered<T>(sums[j] / weights[j], marker) : marker.value);
    }
  }
};

// Valid where a pixel could be made.
struct MakeFilteredMask {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  KernelAxisView columns{}, rows{};
  bool has_negative_weights = false;

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t, std::uint32_t column, std::uint32_t row) const noexcept {
    BandSamples<std::uint8_t> const mask{task.source_mask, 0};
    std::uint32_t const taps = rows.count[row], left = columns.first[column];
    FoundPixels found;
    double sum = 0;
    for (std::uint32_t k = 0; k < taps; ++k) {
      FilteredRow const filtered = filter_gapped(
          columns, column, has_negative_weights, [](std::uint32_t) { return 0.0; },
          [&](std::uint32_t c) { return mask(left + c, rows.first[row] + k) != 0; });
      found.add(filtered.found);
      sum += filtered.found ? rows.plain[k * rows.size + row] : 0;
    }
    bool const valid = found.are_enough(taps, has_negative_weights) && sum > 0;
    store_sample<std::uint8_t>(task.result_mask, 0, column, row, valid ? 255 : 0);
  }
};

}  // namespace terrazzo::tile
