// SPDX-License-Identifier: Apache-2.0
//
// One pixel of an overview from pixels of the previous level: its source pixels, their weights, and the arithmetic,
// operation by operation as in GDAL 3.12 (gdaladdo and its COG driver), so that results are equal bit for bit on the
// host and on the device. A resulting NaN is always the plain quiet NaN.
#pragma once

#include "base/float_nodata.hpp"
#include "base/host_device.hpp"
#include "tile/convert.hpp"
#include "tile/float_convert.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace terrazzo::tile {

// ---------------------------------------------------------------------------------------------------------------
// Source pixels

// Along one axis: [first, last), all with full weight except the outer two, which have their own weights.
struct AxisWindow {
  std::uint32_t first = 0, last = 0;
  double first_weight = 1, last_weight = 1;
  double total_weight = 1;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t size() const noexcept { return last - first; }
  // The weight of source pixel `i` of the window.
  [[nodiscard]] TERRAZZO_HOST_DEVICE double weight(std::uint32_t i) const noexcept {
    return i == first ? first_weight : i + 1 == last ? last_weight : 1.0;
  }
};

// The part of a level that a result shows, along one axis: result pixel i covers the level's pixels from
// shift + (first + i) * ratio to shift + (first + i + 1) * ratio. The source begins with the level's pixel `origin`.
struct AxisMap {
  double ratio = 1, shift = 0;
  std::uint32_t first = 0, origin = 0;

  [[nodiscard]] double at(double i) const noexcept { return shift + (static_cast<double>(first) + i) * ratio; }
};

// Every source pixel between `start` and `end`, even in small part.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline AxisWindow covered_between(double start, double end,
                                                                     std::uint32_t source_size) noexcept {
  constexpr double kTolerance = 1e-8;  // products with the ratio are seldom exact
  AxisWindow window;
  window.first = static_cast<std::uint32_t>(start + kTolerance);
  window.last = static_cast<std::uint32_t>(std::ceil(end - kTolerance));
  if (window.last == window.first) { ++window.last; }
  if (window.last > source_size) { window.last = source_size; }
  bool const one = window.size() == 1;
  window.first_weight = one ? 1.0 : 1.0 - (start - window.first);
  window.last_weight = 1.0 - (window.last - end);
  window.total_weight = window.first_weight;
  if (!one) {
    window.total_weight += window.size() - 2.0;
    window.total_weight += window.last_weight;
  }
  return window;
}

// The window of average, RMS, minimum, maximum and median: the source pixels that result pixel `i` covers. `ratio` is
// source size / result size, in double.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline AxisWindow covered_pixels(std::uint32_t i, double ratio,
                                                                    std::uint32_t source_size) noexcept {
  return covered_between(i * ratio, (static_cast<double>(i) + 1) * ratio, source_size);
}

// The same for a part of a level. Result pixels may reach beyond the level's first and last pixels.
[[nodiscard]] inline AxisWindow covered_pixels(std::uint32_t i, AxisMap const& map,
                                               std::uint32_t source_size) noexcept {
  constexpr double kRounding = 1e-3;  // less than this beyond the end is no pixel's part
  std::uint32_t const limit = map.origin + source_size;
  double const end = map.at(static_cast<double>(i) + 1);
  double const start = map.at(i);
  AxisWindow window = covered_between(start < 0 ? 0 : start, end - limit > kRounding ? limit : end, limit);
  window.first -= map.origin;
  window.last -= map.origin;
  return window;
}

// Nearest, and the first pixel of rounded_pixels().
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t nearest_pixel(std::uint32_t i, double ratio,
                                                                      std::uint32_t source_size) noexcept {
  auto const pixel = static_cast<std::uint32_t>(0.5 + i * ratio);
  return pixel < source_size ? pixel : source_size - 1;
}

// The window of complex averages: bounds rounded to whole pixels, so all weights are 1.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline AxisWindow rounded_pixels(std::uint32_t i, double ratio,
                                                                    std::uint32_t source_size, bool is_last) noexcept {
  AxisWindow window;
  window.first = static_cast<std::uint32_t>(0.5 + i * ratio);
  window.last = static_cast<std::uint32_t>(0.5 + (static_cast<double>(i) + 1) * ratio);
  if (window.last == window.first) { ++window.last; }
  if (window.last > source_size || is_last) {
    if (window.first >= source_size) { window.first = source_size - 1; }
    window.last = source_size;
  }
  window.total_weight = window.size();
  return window;
}

// ---------------------------------------------------------------------------------------------------------------
// Validity

// True for NaN, which is missing like the marker, and for floats that equal the marker within a few units of the last
// place of a float32 (also in float64: GDAL's rule, which covers markers that lost digits in text).
template <class Float>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_close_to(Float value, Float marker) noexcept {
  return (static_cast<int>(is_float_nodata(value, marker)) | static_cast<int>(value != value)) != 0;
}

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_marker(T value, T marker) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return is_close_to(half_to_float(value.bits), half_to_float(marker.bits));
  } else if constexpr (std::is_floating_point_v<T>) {
    return is_close_to(value, marker);
  } else {
    return value == marker;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Arithmetic

// The type in which pixels of type T are reduced.
template <class T>
struct Worked {
  using type = double;
};
template <>
struct Worked<std::uint8_t> {
  using type = std::uint8_t;
};
template <>
struct Worked<std::uint16_t> {
  using type = std::uint16_t;
};
template <>
struct Worked<std::int8_t> {
  using type = float;
};
template <>
struct Worked<std::int16_t> {
  using type = float;
};
template <>
struct Worked<float> {
  using type = float;
};
template <class T>
using WorkedAs = typename Worked<T>::type;

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T plain_nan(T value) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return (value.bits & 0x7FFFU) > 0x7C00U ? Half{0x7E00U} : value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return value == value ? value : std::numeric_limits<T>::quiet_NaN();
  } else {
    return value;
  }
}

// Converts a result to type T.
template <class T, class W>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T rounded_to(W value) noexcept {
  return convert_value<T>(plain_nan(value));
}

// Four whole pixels, all valid: a b above c d. GDAL's vector loop adds columns first, its scalar loop for the last
// pixels of a row adds in reading order; in floats the two differ in the last bit.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T average_of_four(T a, T b, T c, T d, bool in_reading_order) noexcept {
  using W = WorkedAs<T>;
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int16_t>) {
    // Equal to GDAL's result in float, which is exact: halves away from zero.
    std::int32_t const sum = std::int32_t{a} + b + c + d;
    return static_cast<T>((sum + 2 + (sum >> 31)) >> 2);
  } else if constexpr (std::is_floating_point_v<W>) {
    constexpr auto kQuarter = static_cast<W>(0.25);  // scaled before the sum, so that it cannot overflow
    W const wa = kQuarter * convert_value<W>(a), wb = kQuarter * convert_value<W>(b);
    W const wc = kQuarter * convert_value<W>(c), wd = kQuarter * convert_value<W>(d);
    return rounded_to<T>(in_reading_order ? ((wa + wb) + wc) + wd : (wa + wc) + (wb + wd));
  } else {
    return static_cast<T>((static_cast<std::uint32_t>(a) + b + c + d + 2U) >> 2);
  }
}

// The number of pixels at the end of a row of `width` that GDAL adds in reading order.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t reading_order_tail(std::uint32_t width) noexcept {
  return std::is_same_v<WorkedAs<T>, float> ? width % 4 : std::is_same_v<WorkedAs<T>, double> ? width % 2 : 0;
}

// A value that an average must not have, and its replacement.
template <class T>
struct Avoided {
  bool present = false;
  WorkedAs<T> value{}, instead{};
};

// The neighbour of a marker that replaces a result equal to the marker. REQUIRES: pixels of type T can have the marker.
template <class T>
[[nodiscard]] inline Avoided<T> avoid_marker(T marker) noexcept {
  using W = WorkedAs<T>;
  Avoided<T> avoided{true, convert_value<W>(marker), {}};
  if constexpr (std::is_same_v<T, Half>) {
    bool const is_largest = marker.bits == 0x7BFFU;
    bool const is_finite = (marker.bits & 0x7C00U) != 0x7C00U;
    std::uint16_t const magnitude = marker.bits & 0x7FFFU;
    std::uint16_t next = 0;
    if (is_largest) {
      next = 0x7BFEU;
    } else if ((marker.bits & 0x8000U) == 0) {
      next = static_cast<std::uint16_t>(marker.bits + 1);
    } else {
      next = magnitude == 0 ? std::uint16_t{1} : static_cast<std::uint16_t>(marker.bits - 1);
    }
    avoided.instead = is_finite ? convert_value<W>(Half{next}) : W{0};
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr T kLargest = std::numeric_limits<T>::max();
    avoided.instead = !std::isfinite(marker) ? T{0} : std::nextafter(marker, marker == kLargest ? T{0} : kLargest);
  } else if constexpr (sizeof(T) == 8) {
    constexpr auto kEnd = static_cast<double>(std::numeric_limits<T>::max());  // rounded up to a power of two
    avoided.instead = avoided.value >= kEnd ? std::nextafter(kEnd, 0.0) : avoided.value + 1;
  } else {
    constexpr T kLargest = std::numeric_limits<T>::max();
    avoided.instead = static_cast<W>(marker == kLargest ? kLargest - 1 : marker + 1);
  }
  return avoided;
}

// The end of an average: a sum in double divided by its weight, rounded to T. `scale` is 1 for integer arithmetic.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T finish_average(double total, double weight, double scale,
                                                           Avoided<T> const& avoided) noexcept {
  using W = WorkedAs<T>;
  W value;
  if constexpr (std::is_floating_point_v<W>) {
    value = static_cast<W>(scale * (total / weight));
  } else {
    value = static_cast<W>(total / weight + 0.5);
  }
  if (avoided.present && value == avoided.value) { value = avoided.instead; }
  return rounded_to<T>(value);
}

// Weights of the average without a mask, where floats are divided by the number of pixels first to avoid overflow.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double average_scale(std::uint32_t pixel_count) noexcept {
  return std::is_floating_point_v<WorkedAs<T>> ? static_cast<double>(pixel_count) : 1.0;
}

// sample(column, row) gives pixels of the window; all are valid.
template <class T, class Sample>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T average_of_all(AxisWindow const& x, AxisWindow const& y,
                                                           Avoided<T> const& avoided, Sample const& sample) noexcept {
  double const scale = average_scale<T>(x.size() * y.size());
  double const inverse = 1.0 / scale;
  double total = 0;
  for (std::uint32_t row = y.first; row < y.last; ++row) {
    double line = convert_value<double>(sample(x.first, row)) * inverse * x.first_weight;
    if (x.size() > 1) {
      for (std::uint32_t column = x.first + 1; column + 1 < x.last; ++column) {
        line += convert_value<double>(sample(column, row)) * inverse;
      }
      line += convert_value<double>(sample(x.last - 1, row)) * inverse * x.last_weight;
    }
    total += line * y.weight(row);
  }
  return finish_average<T>(total, x.total_weight * y.total_weight, scale, avoided);
}

// The average of the pixels for which valid(column, row) is true; `nothing` if there is none.
template <class T, class Sample, class Valid>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T average_of_valid(AxisWindow const& x, AxisWindow const& y,
                                                             Avoided<T> const& avoided, T nothing, Sample const& sample,
                                                             Valid const& valid) noexcept {
  double total = 0, weight = 0;
  bool found = false;
  for (std::uint32_t row = y.first; row < y.last; ++row) {
    double line = 0, line_weight = 0;
    for (std::uint32_t column = x.first; column < x.last; ++column) {
      if (!valid(column, row)) { continue; }
      found = true;
      double const share = x.weight(column);
      line_weight += share;
      line += convert_value<double>(sample(column, row)) * share;
    }
    total += line * y.weight(row);
    weight += line_weight * y.weight(row);
  }
  return found ? finish_average<T>(total, weight, 1.0, avoided) : nothing;
}

// average_of_valid() of two by two whole pixels, without a branch. Small integers are exact in float32: their quotients
// by 2, 3 and 4 are never close to a rounding border.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T average_of_valid_four(T const (&values)[4], bool const (&valid)[4],
                                                                  Avoided<T> const& avoided, T nothing) noexcept {
  using W = WorkedAs<T>;
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
    std::int32_t sum = 0, count = 0;
    for (int i = 0; i < 4; ++i) {
      std::int32_t const share = valid[i] ? 1 : 0;
      sum += -share & std::int32_t{values[i]};
      count += share;
    }
    float const mean = static_cast<float>(sum) / static_cast<float>(count | (count == 0 ? 1 : 0));
    std::int32_t rounded = static_cast<std::int32_t>(mean + (mean < 0 ? -0.5F : 0.5F));
    // Unsigned pixels are compared after rounding, signed ones before.
    bool const hits =
        std::is_integral_v<W> ? static_cast<W>(rounded) == avoided.value : static_cast<W>(mean) == avoided.value;
    rounded = avoided.present && hits ? static_cast<std::int32_t>(avoided.instead) : rounded;
    return count == 0 ? nothing : static_cast<T>(rounded);
  } else {
    double part[4], share[4];
    for (int i = 0; i < 4; ++i) {
      double const value = convert_value<double>(values[i]);
      part[i] = valid[i] ? value : 0.0;
      share[i] = valid[i] ? 1.0 : 0.0;
    }
    double const total = (0.0 + (part[0] + part[1])) + (part[2] + part[3]);
    double const count = (share[0] + share[1]) + (share[2] + share[3]);
    T const average = finish_average<T>(total, count > 0 ? count : 1.0, 1.0, avoided);
    return count > 0 ? average : nothing;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Root mean square

// The end of a mean of squares. Unsigned pixels get the integer whose square is nearest.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T finish_rms(double total, double weight, double scale,
                                                       Avoided<T> const& avoided) noexcept {
  using W = WorkedAs<T>;
  W value;
  double const mean = total / weight;
  if constexpr (std::is_floating_point_v<W>) {
    value = static_cast<W>(scale * std::sqrt(mean));
  } else {
    auto root = static_cast<std::uint64_t>(std::sqrt(mean));
    if (static_cast<double>(2 * root * (root + 1) + 1) < 2 * mean) { ++root; }
    value = static_cast<W>(root);
  }
  if (avoided.present && value == avoided.value) { value = avoided.instead; }
  return rounded_to<T>(value);
}

// Four whole pixels, all valid, in a type with float arithmetic: see average_of_four().
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T rms_of_four(T a, T b, T c, T d, bool in_reading_order) noexcept {
  using W = WorkedAs<T>;
  W const values[4] = {convert_value<W>(a), convert_value<W>(b), convert_value<W>(c), convert_value<W>(d)};
  W largest = 0;
  for (W const value : values) {
    W const size = std::fabs(value);
    if (!(size <= largest)) { largest = size; }  // true for NaN too
  }
  if (largest == 0) { return rounded_to<T>(W{0}); }
  if (!(largest <= std::numeric_limits<W>::max())) {
    W const sum = values[0] + values[1] + values[2] + values[3];
    return rounded_to<T>(in_reading_order ? std::fabs(sum) : largest);
  }
  W const inverse = W{1} / largest;
  W const sa = values[0] * inverse * (values[0] * inverse), sb = values[1] * inverse * (values[1] * inverse);
  W const sc = values[2] * inverse * (values[2] * inverse), sd = values[3] * inverse * (values[3] * inverse);
  W const sum = in_reading_order ? ((sa + sb) + sc) + sd : (sa + sb) + (sc + sd);
  return rounded_to<T>(largest * std::sqrt(sum * static_cast<W>(0.25)));
}

// Result pixel `column` of a row of `width`, all of whose windows are four whole pixels.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T rms_of_whole_four(T a, T b, T c, T d, std::uint32_t column,
                                                              std::uint32_t width) noexcept {
  if constexpr (std::is_floating_point_v<WorkedAs<T>>) {
    // GDAL has no vector loop in double.
    std::uint32_t const tail =
        std::is_same_v<WorkedAs<T>, float> ? width - reading_order_tail<T>(width) : std::uint32_t{0};
    return rms_of_four<T>(a, b, c, d, column >= tail);
  } else {
    double const total =
        static_cast<double>(std::uint64_t{a} * a + std::uint64_t{b} * b + std::uint64_t{c} * c + std::uint64_t{d} * d);
    return finish_rms<T>(total, 4.0, 1.0, {});
  }
}

// If all pixels count, values are divided by the largest first, so that squares cannot overflow.
template <class T, class Sample>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T rms_of_all(AxisWindow const& x, AxisWindow const& y,
                                                       Avoided<T> const& avoided, Sample const& sample) noexcept {
  double scale = 1;
  if constexpr (std::is_floating_point_v<WorkedAs<T>>) {
    double largest = 0;
    for (std::uint32_t row = y.first; row < y.last; ++row) {
      for (std::uint32_t column = x.first; column < x.last; ++column) {
        double const size = std::fabs(convert_value<double>(sample(column, row)));
        if (size > largest) { largest = size; }
      }
    }
    scale = largest > 0 && largest <= std::numeric_limits<double>::max() ? largest : 1.0;
  }
  double const inverse = 1.0 / scale;
  double total = 0;
  for (std::uint32_t row = y.first; row < y.last; ++row) {
    double line = 0;
    for (std::uint32_t column = x.first; column < x.last; ++column) {
      double const value = convert_value<double>(sample(column, row)) * inverse;
      line += value * value * x.weight(column);
    }
    total += line * y.weight(row);
  }
  return finish_rms<T>(total, x.total_weight * y.total_weight, scale, avoided);
}

template <class T, class Sample, class Valid>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T rms_of_valid(AxisWindow const& x, AxisWindow const& y,
                                                         Avoided<T> const& avoided, T nothing, Sample const& sample,
                                                         Valid const& valid) noexcept {
  double total = 0, weight = 0;
  for (std::uint32_t row = y.first; row < y.last; ++row) {
    double line = 0, line_weight = 0;
    for (std::uint32_t column = x.first; column < x.last; ++column) {
      if (!valid(column, row)) { continue; }
      double const share = x.weight(column), value = convert_value<double>(sample(column, row));
      line_weight += share;
      line += value * value * share;
    }
    total += line * y.weight(row);
    weight += line_weight * y.weight(row);
  }
  return weight > 0 ? finish_rms<T>(total, weight, 1.0, avoided) : nothing;
}

// ---------------------------------------------------------------------------------------------------------------
// Complex numbers

// Mean, or root mean square, of each part separately. Through float32 for any type, as in GDAL.
struct ComplexMean {
  bool of_squares = false;
  double real = 0, imaginary = 0;

  template <class Part>
  TERRAZZO_HOST_DEVICE void add(Part re_part, Part im_part) noexcept {
    double const re = static_cast<double>(convert_value<float>(re_part));
    double const im = static_cast<double>(convert_value<float>(im_part));
    real += of_squares ? re * re : re;
    imaginary += of_squares ? im * im : im;
  }
  template <class Part>
  [[nodiscard]] TERRAZZO_HOST_DEVICE Part finished(double sum, double pixel_count) const noexcept {
    double const mean = sum / pixel_count;
    return rounded_to<Part>(static_cast<float>(of_squares ? std::sqrt(mean) : mean));
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Kernels

// Weight of a pixel at distance `x`, in pixels of the result.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double bilinear_weight(double x) noexcept {
  double const distance = std::fabs(x);
  return distance <= 1.0 ? 1.0 - distance : 0.0;
}

// Catmull-Rom.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double cubic_weight(double x) noexcept {
  double const distance = std::fabs(x), square = x * x;
  if (distance <= 1.0) { return square * (1.5 * distance - 2.5) + 1.0; }
  if (distance <= 2.0) { return square * (-0.5 * distance + 2.5) - 4.0 * distance + 2.0; }
  return 0.0;
}

// The B-spline of degree 3.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double cubic_spline_weight(double x) noexcept {
  double const distance = std::fabs(x), rest = 2.0 - distance;
  if (distance <= 1.0) { return (4.0 + x * x * (3.0 * distance - 6.0)) / 6.0; }
  return rest > 0 ? rest * rest * rest / 6.0 : 0.0;
}

// sin(pi x) sin(pi x / 3) / (pi x pi x / 3), with sin(3a) = 3 sin(a) - 4 sin(a)^3. No cut-off at 3: windows have one.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline double lanczos_weight(double x) noexcept {
  if (x == 0.0) { return 1.0; }
  double const angle = 3.14159265358979323846 * x, third = angle / 3;
  double const sine = std::sin(third), square = sine * sine;
  return (3 - 4 * square) * square / (angle * third);
}

// [first, last) of the pixels within `radius` result pixels of the middle of result pixel `i`.
struct KernelWindow {
  std::uint32_t first = 0, last = 0;
  double start = 0, step = 1;  // distance of pixel `first` from the middle, and between pixels, in result pixels
};

// Around `middle`, in [begin, end) of the source's pixels; `begin` and `end` are whole. The window counts from `begin`.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline KernelWindow kernel_window_at(double middle, double ratio, double radius,
                                                                        double begin, double end) noexcept {
  double const scale = 1.0 / ratio, step = scale >= 1.0 ? 1.0 : scale, reach = radius / step;
  double const low = std::floor(middle - reach + 0.5), high = std::floor(middle + reach + 0.5);
  double const first = low > begin ? low : begin, last = high < end ? high : end;
  KernelWindow window;
  window.first = static_cast<std::uint32_t>(first - begin);
  window.last = static_cast<std::uint32_t>(last - begin);
  window.step = step;
  window.start = step * (first - middle + 0.5);
  return window;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline KernelWindow kernel_window(std::uint32_t i, double ratio, double radius,
                                                                     std::uint32_t source_size) noexcept {
  return kernel_window_at((i + 0.5) * ratio, ratio, radius, 0, source_size);
}

// For a part of a level. As in GDAL, positions count from the part's first pixel: a kernel that ends on the middle of a
// pixel is rounded like that of a part at another pixel.
[[nodiscard]] inline KernelWindow kernel_window(std::uint32_t i, AxisMap const& map, double radius,
                                                std::uint32_t source_size) noexcept {
  AxisMap part = map;
  double const whole = std::floor(map.shift), begin = map.origin - whole;
  part.shift -= whole;
  return kernel_window_at(part.at(i + 0.5), part.ratio, radius, begin, begin + source_size);
}

}  // namespace terrazzo::tile
