// SPDX-License-Identifier: Apache-2.0
//
// Makers of single samples by nearest, average and root mean square, and of their mask: called with band, column and
// row of the result, they read the source of their task and store one sample. The host writer processes whole rows
// instead, with the same bits.
#pragma once

#include "tile/reduce_marker.hpp"
#include "tile/reduce_task.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Samples are `parts` (1 or 2) Words that are copied unchanged.
template <class Word>
struct MakeNearest {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  std::uint32_t parts = 1;

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t band, std::uint32_t column, std::uint32_t row) const noexcept {
    std::uint32_t const from_column = nearest_pixel(column, task.column_ratio, task.source_width);
    std::uint32_t const from_row = nearest_pixel(row, task.row_ratio, task.source_height);
    auto const* const from = reinterpret_cast<Word const*>(task.source.at(band, from_column, from_row));
    auto* const to = reinterpret_cast<Word*>(task.result.at(band, column, row));
    to[0] = from[0];
    if (parts == 2) { to[1] = from[1]; }
  }
};

// Two by two samples, in reading order.
template <class T>
struct FourSamples {
  T values[4];
  bool valid[4];
};

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline FourSamples<T> four_samples(BandSamples<T> const& sample,
                                                                      CountedSamples<T> const& counted,
                                                                      std::uint32_t column,
                                                                      std::uint32_t row) noexcept {
  return {{sample(column, row), sample(column + 1, row), sample(column, row + 1), sample(column + 1, row + 1)},
          {counted(column, row), counted(column + 1, row), counted(column, row + 1), counted(column + 1, row + 1)}};
}

// One sample from the source pixels that it covers. The rule finds its columns itself: two by two pixels need no
// window.
template <class T, class Rule>
struct MakeMean {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  Marker<T> marker{};

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t band, std::uint32_t column, std::uint32_t row) const noexcept {
    BandSamples<T> const sample{task.source, band};
    CountedSamples<T> const counted{task, task.validity(band, marker.present), band, marker.value};
    AxisWindow const y = covered_pixels(row, task.row_ratio, task.source_height);
    store_sample(task.result, band, column, row, Rule::value(task, marker, sample, counted, column, y));
  }
};

struct AverageRule {
  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T value(ReduceTask const& task, Marker<T> const& marker,
                                                    BandSamples<T> const& sample, CountedSamples<T> const& counted,
                                                    std::uint32_t column, AxisWindow const& y) noexcept {
    bool const is_four = task.columns_are_pairs && y.size() == 2;
    if (is_four && counted.kind == Validity::all) {
      FourSamples<T> const four = four_samples(sample, counted, 2 * column, y.first);
      bool const in_reading_order = column >= task.width - reading_order_tail<T>(task.width);
      return average_of_four<T>(four.values[0], four.values[1], four.values[2], four.values[3], in_reading_order);
    }
    if (is_four && y.first_weight == 1 && y.last_weight == 1) {
      FourSamples<T> const four = four_samples(sample, counted, 2 * column, y.first);
      return average_of_valid_four<T>(four.values, four.valid, marker.avoided, marker.value);
    }
    AxisWindow const x = covered_pixels(column, task.column_ratio, task.source_width);
    if (counted.kind == Validity::all) { return average_of_all<T>(x, y, marker.avoided, sample); }
    return average_of_valid<T>(x, y, marker.avoided, marker.value, sample, counted);
  }
};

struct RmsRule {
  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T value(ReduceTask const& task, Marker<T> const& marker,
                                                    BandSamples<T> const& sample, CountedSamples<T> const& counted,
                                                    std::uint32_t column, AxisWindow const& y) noexcept {
    if (counted.kind == Validity::all && task.columns_are_pairs && y.size() == 2) {
      FourSamples<T> const four = four_samples(sample, counted, 2 * column, y.first);
      return rms_of_whole_four<T>(four.values[0], four.values[1], four.values[2], four.values[3], column, task.width);
    }
    AxisWindow const x = covered_pixels(column, task.column_ratio, task.source_width);
    if (counted.kind == Validity::all) { return rms_of_all<T>(x, y, marker.avoided, sample); }
    return rms_of_valid<T>(x, y, marker.avoided, marker.value, sample, counted);
  }
};

template <class T>
using MakeAverage = MakeMean<T, AverageRule>;
template <class T>
using MakeRms = MakeMean<T, RmsRule>;

// Mean or root mean square of both parts of complex numbers: all of them count.
template <class Part>
struct MakeComplex {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  bool of_squares = false;

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t band, std::uint32_t column, std::uint32_t row) const noexcept {
    AxisWindow const x = rounded_pixels(column, task.column_ratio, task.source_width, column + 1 == task.width);
    AxisWindow const y = rounded_pixels(row, task.row_ratio, task.source_height, row + 1 == task.height);
    ComplexMean mean{of_squares};
    for (std::uint32_t r = y.first; r < y.last; ++r) {
      for (std::uint32_t c = x.first; c < x.last; ++c) {
        auto const* const in = reinterpret_cast<Part const*>(task.source.at(band, c, r));
        mean.add(in[0], in[1]);
      }
    }
    double const pixels = static_cast<double>(y.size()) * x.size();
    auto* const out = reinterpret_cast<Part*>(task.result.at(band, column, row));
    out[0] = mean.finished<Part>(mean.real, pixels);
    out[1] = mean.finished<Part>(mean.imaginary, pixels);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Masks: 0 or 255

struct MakeNearestMask {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t, std::uint32_t column, std::uint32_t row) const noexcept {
    std::uint32_t const from_column = nearest_pixel(column, task.column_ratio, task.source_width);
    std::uint32_t const from_row = nearest_pixel(row, task.row_ratio, task.source_height);
    bool const valid = BandSamples<std::uint8_t>{task.source_mask, 0}(from_column, from_row) != 0;
    store_sample<std::uint8_t>(task.result_mask, 0, column, row, valid ? 255 : 0);
  }
};

// Valid where any source pixel is valid.
struct MakeAnyMask {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  bool rounded = false;  // the windows of complex pixels

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t, std::uint32_t column, std::uint32_t row) const noexcept {
    AxisWindow const x = rounded
                             ? rounded_pixels(column, task.column_ratio, task.source_width, column + 1 == task.width)
                             : covered_pixels(column, task.column_ratio, task.source_width);
    AxisWindow const y = rounded ? rounded_pixels(row, task.row_ratio, task.source_height, row + 1 == task.height)
                                 : covered_pixels(row, task.row_ratio, task.source_height);
    BandSamples<std::uint8_t> const valid{task.source_mask, 0};
    unsigned any = 0;
    for (std::uint32_t r = y.first; r < y.last; ++r) {
      for (std::uint32_t c = x.first; c < x.last; ++c) { any |= valid(c, r); }
    }
    store_sample<std::uint8_t>(task.result_mask, 0, column, row, any != 0 ? 255 : 0);
  }
};

}  // namespace terrazzo::tile
