// SPDX-License-Identifier: Apache-2.0
#include "ops/stats/accumulator.hpp"

#include "base/float_nodata.hpp"
#include "base/moments.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <span>
#include <type_traits>

namespace terrazzo::ops {
namespace {

constexpr std::uint64_t kGrainSamples = 1U << 18;  // samples of one thread's turn: about 0.1 ms

std::uint64_t grain_rows(BandRows const& rows) { return kGrainSamples / std::max<std::uint32_t>(rows.columns, 1) + 1; }

template <class T>
T const* row_samples(BandRows const& rows, std::uint64_t row) {
  return static_cast<T const*>(rows.samples) + row * rows.columns;
}

std::uint8_t const* row_mask(BandRows const& rows, std::uint64_t row) {
  return rows.mask == nullptr ? nullptr : rows.mask + row * rows.columns;
}

double finish_stddev(double variance) { return std::sqrt(std::max(variance, 0.0)); }

// A power of two that scales values before binning, so that neither the width of the range nor the number of bins per
// unit overflows. Values in such a narrow range are below 2^-930, so the larger power does not overflow either.
double binning_scale(HistogramRange const& range) {
  double const width = range.high - range.low;
  if (std::isinf(width)) { return 0.5; }
  return width > 0 && std::isinf(range.bins / width) ? 0x1p600 : 1;
}

// Maps a value to its bin, or to `bins` if it is outside. The range is finite; a range of zero width puts all values in
// its first bin. Edges are those of numpy.histogram of float64, and an edge belongs to the bin that it begins.
class Binner {
 public:
  explicit Binner(HistogramRange const& range) : range_(range), scale_(binning_scale(range)), low_(range.low * scale_) {
    if (!(range.high > range.low)) { return; }
    double const width = range.high * scale_ - low_;
    step_ = width / range.bins;
    per_unit_ = range.bins / width;
    last_ = range.bins - 1;
  }
  [[nodiscard]] std::uint32_t operator()(double value) const noexcept {
    if (!(value >= range_.low && value <= range_.high)) { return range_.bins; }
    double const scaled = value * scale_;
    auto const bin = std::min(static_cast<std::uint32_t>((scaled - low_) * per_unit_), last_);
    return corrected(scaled, bin);
  }

 private:
  [[nodiscard]] double edge(std::uint32_t bin) const noexcept { return low_ + bin * step_; }
  // The product is rounded, so it can be off by one bin, but no more. Edges may coincide in a range of few doubles: the
  // next bin would then be beyond the right one.
  [[nodiscard]] std::uint32_t corrected(double scaled, std::uint32_t bin) const noexcept {
    double const begin = edge(bin);
    if (scaled < begin) { return bin - 1; }
    double const end = edge(bin + 1);
    return scaled >= end && end > begin && bin != last_ ? bin + 1 : bin;
  }

  HistogramRange range_;
  double scale_, low_, step_ = 0, per_unit_ = 0;
  std::uint32_t last_ = 0;
};

// Counts that threads fill in parallel.
class WorkerBins {
 public:
  void begin(HistogramRange const& range) {
    range_ = range;
    total_.assign(range.bins, 0);
  }
  // body(row, binner, counts); counts has one entry more than bins, for values outside.
  template <class Body>
  void add(BandRows const& rows, unsigned threads, Body const& body) {
    Binner const binner(range_);
    std::vector<std::vector<std::uint64_t>> counts(std::max(threads, 1U));
    parallel_ranges(rows.rows, grain_rows(rows), threads,
                    [&](std::uint64_t first, std::uint64_t last, unsigned worker) {
                      auto& mine = counts[worker];
                      mine.resize(std::size_t{range_.bins} + 1);
                      for (std::uint64_t row = first; row < last; ++row) { body(row, binner, std::span(mine)); }
                    });
    for (auto const& part : counts) {
      for (std::size_t bin = 0; bin < total_.size() && bin < part.size(); ++bin) { total_[bin] += part[bin]; }
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> const& counts() const noexcept { return total_; }

 private:
  HistogramRange range_;
  std::vector<std::uint64_t> total_;
};

// 8 and 16 bits: the counts of all values determine the statistics.
template <class T>
class CountingAccumulator final : public Accumulator {
 public:
  explicit CountingAccumulator(std::optional<T> nodata) : nodata_(nodata), counts_(kValues) {}

  void add(BandRows const& rows, unsigned threads) override {
    std::vector<std::vector<std::uint64_t>> parts(std::max(threads, 1U));
    parallel_ranges(rows.rows, grain_rows(rows), threads,
                    [&](std::uint64_t first, std::uint64_t last, unsigned worker) {
                      auto& mine = parts[worker];
                      mine.resize(kValues);
                      for (std::uint64_t row = first; row < last; ++row) { count_row(rows, row, mine); }
                    });
    for (auto const& part : parts) {
      for (std::size_t i = 0; i < part.size(); ++i) { counts_[i] += part[i]; }
    }
    if (nodata_) { counts_[index_of(*nodata_)] = 0; }
  }

  void summarise(BandStats& stats) const override {
    IntegerSums<T> sums;
    for_each_value([&](T value, std::uint64_t times) { sums.add_times(value, times); });
    stats.valid = sums.count;
    if (sums.count == 0) { return; }
    stats.minimum = sums.minimum;
    stats.maximum = sums.maximum;
    stats.mean = sums.mean();
    stats.stddev = finish_stddev(sums.variance());
  }

  [[nodiscard]] std::optional<HistogramRange> value_range() const override {
    BandStats stats;
    summarise(stats);
    if (stats.valid == 0) { return std::nullopt; }
    return HistogramRange{stats.minimum, stats.maximum, 0};
  }

  void begin_histogram(HistogramRange const& range) override { range_ = range; }
  void add_histogram(BandRows const&, unsigned) override {}
  [[nodiscard]] std::vector<std::uint64_t> histogram() const override {
    std::vector<std::uint64_t> bins(std::size_t{range_.bins} + 1);
    Binner const binner(range_);
    for_each_value([&](T value, std::uint64_t times) { bins[binner(value)] += times; });
    bins.pop_back();
    return bins;
  }

 private:
  using Unsigned = std::make_unsigned_t<T>;
  static constexpr std::size_t kValues = std::size_t{1} << (8 * sizeof(T));
  static std::size_t index_of(T value) { return static_cast<Unsigned>(value); }

  static void count_row(BandRows const& rows, std::uint64_t row, std::span<std::uint64_t> counts) {
    T const* samples = row_samples<T>(rows, row);
    std::uint8_t const* mask = row_mask(rows, row);
    if (mask == nullptr) {
      for (std::uint32_t i = 0; i < rows.columns; ++i) { ++counts[index_of(samples[i])]; }
    } else {
      for (std::uint32_t i = 0; i < rows.columns; ++i) { counts[index_of(samples[i])] += mask[i] != 0 ? 1U : 0U; }
    }
  }

  template <class Body>
  void for_each_value(Body const& body) const {
    for (std::size_t i = 0; i < kValues; ++i) {
      if (counts_[i] != 0) { body(static_cast<T>(static_cast<Unsigned>(i)), counts_[i]); }
    }
  }

  std::optional<T> nodata_;
  std::vector<std::uint64_t> counts_;
  HistogramRange range_;
};

// Integers of any size.
template <class T>
class IntegerAccumulator final : public Accumulator {
 public:
  explicit IntegerAccumulator(std::optional<T> nodata) : nodata_(nodata) {}

  void add(BandRows const& rows, unsigned threads) override {
    std::vector<IntegerSums<T>> parts(std::max(threads, 1U));
    parallel_ranges(rows.rows, grain_rows(rows), threads,
                    [&](std::uint64_t first, std::uint64_t last, unsigned worker) {
                      IntegerSums<T> sums;
                      for (std::uint64_t row = first; row < last; ++row) {
                        for_each_valid(rows, row, [&](T value) { sums.add(value); });
                      }
                      parts[worker].merge(sums);
                    });
    for (auto const& part : parts) { sums_.merge(part); }
  }

  void summarise(BandStats& stats) const override {
    stats.valid = sums_.count;
    if (sums_.count == 0) { return; }
    stats.minimum = static_cast<double>(sums_.minimum);
    stats.maximum = static_cast<double>(sums_.maximum);
    stats.mean = sums_.mean();
    stats.stddev = finish_stddev(sums_.variance());
  }

  [[nodiscard]] std::optional<HistogramRange> value_range() const override {
    if (sums_.count == 0) { return std::nullopt; }
    return HistogramRange{static_cast<double>(sums_.minimum), static_cast<double>(sums_.maximum), 0};
  }

  void begin_histogram(HistogramRange const& range) override { bins_.begin(range); }
  void add_histogram(BandRows const& rows, unsigned threads) override {
    bins_.add(rows, threads, [&](std::uint64_t row, Binner const& binner, std::span<std::uint64_t> counts) {
      for_each_valid(rows, row, [&](T value) { ++counts[binner(static_cast<double>(value))]; });
    });
  }
  [[nodiscard]] std::vector<std::uint64_t> histogram() const override { return bins_.counts(); }

 private:
  template <class Body>
  void for_each_valid(BandRows const& rows, std::uint64_t row, Body const& body) const {
    T const* samples = row_samples<T>(rows, row);
    std::uint8_t const* mask = row_mask(rows, row);
    for (std::uint32_t i = 0; i < rows.columns; ++i) {
      if ((mask == nullptr || mask[i] != 0) && !(nodata_ && samples[i] == *nodata_)) { body(samples[i]); }
    }
  }

  std::optional<T> nodata_;
  IntegerSums<T> sums_;
  WorkerBins bins_;
};

// Several parallel sums: the compiler can vectorize them, and the order of additions stays fixed.
constexpr std::size_t kLanes = 8;

// Floats; NaN is never valid. T may be complex: its magnitude is the value.
template <class T>
class FloatAccumulator final : public Accumulator {
 public:
  explicit FloatAccumulator(std::optional<double> nodata) : nodata_(nodata) {}

  void add(BandRows const& rows, unsigned threads) override {
    std::vector<Moments> parts(rows.rows);
    parallel_ranges(rows.rows, grain_rows(rows), threads, [&](std::uint64_t first, std::uint64_t last, unsigned) {
      std::vector<double> values(rows.columns);
      for (std::uint64_t row = first; row < last; ++row) { parts[row] = row_moments(valid_values(rows, row, values)); }
    });
    for (auto const& part : parts) { moments_.merge(part); }
  }

  void summarise(BandStats& stats) const override {
    stats.valid = moments_.count;
    if (moments_.count == 0) { return; }
    stats.minimum = moments_.minimum;
    stats.maximum = moments_.maximum;
    stats.mean = moments_.mean;
    double const variance = moments_.m2 / static_cast<double>(moments_.count);
    stats.stddev = std::isnan(variance) ? variance : finish_stddev(variance);
  }

  [[nodiscard]] std::optional<HistogramRange> value_range() const override {
    if (moments_.finite_minimum > moments_.finite_maximum) { return std::nullopt; }
    return HistogramRange{moments_.finite_minimum, moments_.finite_maximum, 0};
  }

  void begin_histogram(HistogramRange const& range) override { bins_.begin(range); }
  void add_histogram(BandRows const& rows, unsigned threads) override {
    bins_.add(rows, threads, [&](std::uint64_t row, Binner const& binner, std::span<std::uint64_t> counts) {
      std::uint8_t const* mask = row_mask(rows, row);
      T const* samples = row_samples<T>(rows, row);
      for (std::uint32_t i = 0; i < rows.columns; ++i) {
        double const value = value_of(samples[i]);
        if (is_valid(value, mask, i)) { ++counts[binner(value)]; }
      }
    });
  }
  [[nodiscard]] std::vector<std::uint64_t> histogram() const override { return bins_.counts(); }

 private:
  static double value_of(T sample) {
    if constexpr (std::is_floating_point_v<T>) {
      return sample;
    } else {
      return std::abs(sample);
    }
  }

  [[nodiscard]] bool is_nodata(double value) const {
    if constexpr (std::is_floating_point_v<T>) {
      return is_float_nodata(static_cast<T>(value), static_cast<T>(*nodata_));
    } else {
      return value == *nodata_;
    }
  }

  [[nodiscard]] bool is_valid(double value, std::uint8_t const* mask, std::uint32_t i) const {
    return value == value && (mask == nullptr || mask[i] != 0) && !(nodata_ && is_nodata(value));
  }

  // The valid values of a row, packed to the front of `scratch`.
  std::span<double const> valid_values(BandRows const& rows, std::uint64_t row, std::span<double> scratch) const {
    T const* samples = row_samples<T>(rows, row);
    std::uint8_t const* mask = row_mask(rows, row);
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < rows.columns; ++i) {
      double const value = value_of(samples[i]);
      scratch[count] = value;
      count += is_valid(value, mask, i) ? 1 : 0;
    }
    return scratch.first(count);
  }

  static Moments row_moments(std::span<double const> values) {
    Moments moments;
    if (values.empty()) { return moments; }
    moments.count = values.size();
    double const n = static_cast<double>(values.size());
    moments.mean = lane_sum(values, [](double v) { return v; }) / n;
    moments.m2 = lane_sum(values, [mean = moments.mean](double v) { return (v - mean) * (v - mean); });
    std::array<double, kLanes> low, high;
    low.fill(values[0]);
    high.fill(values[0]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      low[i % kLanes] = std::min(low[i % kLanes], values[i]);
      high[i % kLanes] = std::max(high[i % kLanes], values[i]);
    }
    moments.minimum = moments.finite_minimum = *std::min_element(low.begin(), low.end());
    moments.maximum = moments.finite_maximum = *std::max_element(high.begin(), high.end());
    if (!std::isfinite(moments.minimum) || !std::isfinite(moments.maximum)) {
      Moments const none;
      moments.finite_minimum = none.finite_minimum;
      moments.finite_maximum = none.finite_maximum;
      for (double v : values) {
        if (!std::isfinite(v)) { continue; }
        moments.finite_minimum = std::min(moments.finite_minimum, v);
        moments.finite_maximum = std::max(moments.finite_maximum, v);
      }
    }
    return moments;
  }

  template <class Function>
  static double lane_sum(std::span<double const> values, Function const& function) {
    std::array<double, kLanes> lanes{};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) { lanes[lane] += function(values[i + lane]); }
    }
    for (; i < values.size(); ++i) { lanes[i % kLanes] += function(values[i]); }
    double sum = 0;
    for (double lane : lanes) { sum += lane; }
    return sum;
  }

  std::optional<double> nodata_;  // converted to a value of type T
  Moments moments_;
  WorkerBins bins_;
};

template <class T>
std::optional<T> integer_nodata(Nodata const* nodata) {
  if (nodata == nullptr || !nodata->representable) { return std::nullopt; }
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (nodata->exact_i64) { return nodata->exact_i64; }
  }
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (nodata->exact_u64) { return nodata->exact_u64; }
  }
  // 2^63 and 2^64 are doubles, but exceed the integer types.
  if (!(nodata->value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
        nodata->value < std::ldexp(1.0, std::numeric_limits<T>::digits))) {
    return std::nullopt;
  }
  return static_cast<T>(nodata->value);
}

template <class T>
std::unique_ptr<Accumulator> make_integer(Nodata const* nodata, bool counting) {
  if constexpr (sizeof(T) <= 2) {
    if (counting) { return std::make_unique<CountingAccumulator<T>>(integer_nodata<T>(nodata)); }
  }
  return std::make_unique<IntegerAccumulator<T>>(integer_nodata<T>(nodata));
}

// A float32 sample equals the marker if it equals the marker rounded to float32.
std::optional<double> float_nodata(Nodata const* nodata, DType type) {
  if (nodata == nullptr || !nodata->representable) { return std::nullopt; }
  if (type != DType::f32 || !std::isfinite(nodata->value)) { return nodata->value; }
  if (std::abs(nodata->value) > std::numeric_limits<float>::max()) { return std::nullopt; }
  return static_cast<double>(static_cast<float>(nodata->value));
}

}  // namespace

std::unique_ptr<Accumulator> make_accumulator(DType type, Nodata const* nodata, bool counting) {
  switch (type) {
    case DType::u8: return make_integer<std::uint8_t>(nodata, counting);
    case DType::i8: return make_integer<std::int8_t>(nodata, counting);
    case DType::u16: return make_integer<std::uint16_t>(nodata, counting);
    case DType::i16: return make_integer<std::int16_t>(nodata, counting);
    case DType::u32: return make_integer<std::uint32_t>(nodata, counting);
    case DType::i32: return make_integer<std::int32_t>(nodata, counting);
    case DType::u64: return make_integer<std::uint64_t>(nodata, counting);
    case DType::i64: return make_integer<std::int64_t>(nodata, counting);
    case DType::f32: return std::make_unique<FloatAccumulator<float>>(float_nodata(nodata, type));
    case DType::f64: return std::make_unique<FloatAccumulator<double>>(float_nodata(nodata, type));
    case DType::cf64: return std::make_unique<FloatAccumulator<std::complex<double>>>(std::nullopt);
    default: throw Error(ErrorKind::usage, "statistics of this sample type must be asked for as float32 or complex128");
  }
}

}  // namespace terrazzo::ops
