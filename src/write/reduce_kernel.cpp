// SPDX-License-Identifier: Apache-2.0
//
// Bilinear, cubic and Lanczos: weights that fall off with the distance, stretched by the ratio so that every source
// pixel takes part; first along rows, then along columns, both in double. Where pixels are missing the weights of the
// others are scaled up; kernels with negative weights want half of the window in one piece.
#include "tile/convert_sample.hpp"
#include "tile/cpu.hpp"
#include "write/reduce_method.hpp"

#include <algorithm>
#include <cmath>

namespace terrazzo::writing {
namespace {

double weight_at(Resampling method, double x) noexcept {
  switch (method) {
    case Resampling::bilinear: return tile::bilinear_weight(x);
    case Resampling::cubic: return tile::cubic_weight(x);
    default: return tile::lanczos_weight(x);
  }
}

// Four at a time, then one by one.
template <class Term>
void add_in_fours(double& sum, std::size_t count, Term const& term) noexcept {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) { sum += term(k) + term(k + 1) + term(k + 2) + term(k + 3); }
  for (; k < count; ++k) { sum += term(k); }
}

// Windows and weights along one axis; weights[k * size + i] is that of the k-th pixel of window i.
struct KernelAxis {
  std::vector<std::uint32_t> first, count;
  std::vector<double> plain;       // as they come, times `unit`
  std::vector<double> normalised;  // of a window without gaps: their sum is 1
  std::size_t size = 0;

  // `unit` is what a pixel of a gapped window that is there counts for: 255 in GDAL's masks of pixels, 1 in those of
// rows.
  KernelAxis(Resampling method, std::uint32_t source_size, std::uint32_t result_size, double unit) : size(result_size) {
    double const radius = method == Resampling::bilinear ? 1 : method == Resampling::cubic ? 2 : 3;
    double const ratio = static_cast<double>(source_size) / result_size;
    std::uint32_t longest = 0;
    std::vector<tile::KernelWindow> windows(result_size);
    for (std::uint32_t i = 0; i < result_size; ++i) {
      windows[i] = tile::kernel_window(i, ratio, radius, source_size);
      first.push_back(windows[i].first);
      count.push_back(windows[i].last - windows[i].first);
      longest = std::max(longest, count.back());
    }
    plain.resize(longest * size);
    normalised.resize(longest * size);
    for (std::size_t i = 0; i < size; ++i) {
      double x = windows[i].start, sum = 0;
      for (std::size_t k = 0; k < count[i]; ++k, x += windows[i].step) { plain[k * size + i] = weight_at(method, x); }
      add_in_fours(sum, count[i], [&](std::size_t k) { return plain[k * size + i]; });
      double const scale = sum != 0 ? 1.0 / sum : 1.0;
      for (std::size_t k = 0; k < count[i]; ++k) {
        normalised[k * size + i] = plain[k * size + i] * scale;
        plain[k * size + i] *= unit;
      }
    }
  }
};

// Windows [begin, end) are equally long, each two pixels further on than the one before.
struct KernelRun {
  std::uint32_t begin = 0, end = 0;
};

[[nodiscard]] std::vector<KernelRun> runs_of(KernelAxis const& axis) {
  std::vector<KernelRun> runs;
  auto const size = static_cast<std::uint32_t>(axis.size);
  for (std::uint32_t begin = 0; begin < size;) {
    std::uint32_t end = begin + 1;
    while (end < size && axis.count[end] == axis.count[begin] && axis.first[end] == axis.first[end - 1] + 2) { ++end; }
    runs.push_back({begin, end});
    begin = end;
  }
  return runs;
}

// Source rows filtered along the row, kept while result rows still need them.
struct FilteredRows final : MethodState {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Row {
    std::uint32_t number = kNone;
    std::vector<double> values{};
    std::vector<std::uint8_t> found{};  // with gaps only
  };
  std::vector<Row> rows{};  // row n in place n % size
  std::vector<double> pixels{};
  std::vector<std::uint8_t> counted{};
};

struct RunTask {
  double const* pixels = nullptr;   // of the first window
  double const* weights = nullptr;  // of the first pixel of the first window
  std::size_t weights_stride = 0;
  double* out = nullptr;
  std::uint32_t taps = 0, count = 0;
};

// GDAL's order of summation: two sums, of the first and of the second pair of every four, and what is left in the
// first.
[[gnu::always_inline]] inline void filter_run(RunTask const& task) noexcept {
  constexpr std::uint32_t kBlock = 256;
  alignas(32) double first[kBlock];
  alignas(32) double second[kBlock];
  for (std::uint32_t begin = 0; begin < task.count; begin += kBlock) {
    std::uint32_t const count = std::min(kBlock, task.count - begin);
    for (std::uint32_t i = 0; i < count; ++i) { first[i] = second[i] = 0; }
    std::uint32_t const in_fours = task.taps & ~3U;
    for (std::uint32_t k = 0; k < task.taps; ++k) {
      double* const sum = k < in_fours && (k & 2U) != 0 ? second : first;
      double const* const pixels = task.pixels + 2 * std::size_t{begin} + k;
      double const* const weights = task.weights + k * task.weights_stride + begin;
      for (std::uint32_t i = 0; i < count; ++i) { sum[i] += pixels[2 * i] * weights[i]; }
    }
    for (std::uint32_t i = 0; i < count; ++i) { task.out[begin + i] = first[i] + second[i]; }
  }
}

// The same across rows: `rows` of `count` values, one weight each.
[[gnu::always_inline]] inline void filter_columns(double const* const* rows, double const* weights, std::uint32_t taps,
                                                  std::uint32_t count, double* out) noexcept {
  constexpr std::uint32_t kBlock = 256;
  alignas(32) double first[kBlock];
  alignas(32) double second[kBlock];
  for (std::uint32_t begin = 0; begin < count; begin += kBlock) {
    std::uint32_t const size = std::min(kBlock, count - begin);
    for (std::uint32_t i = 0; i < size; ++i) { first[i] = second[i] = 0; }
    std::uint32_t const in_fours = taps & ~3U;
    for (std::uint32_t k = 0; k < taps; ++k) {
      double* const sum = k < in_fours && (k & 2U) != 0 ? second : first;
      double const* const values = rows[k] + begin;
      double const weight = weights[k];
      for (std::uint32_t i = 0; i < size; ++i) { sum[i] += values[i] * weight; }
    }
    for (std::uint32_t i = 0; i < size; ++i) { out[begin + i] = first[i] + second[i]; }
  }
}

#if TERRAZZO_HAVE_X86
TERRAZZO_TARGET_AVX2 void filter_run_avx2(RunTask const& task) noexcept { filter_run(task); }
TERRAZZO_TARGET_AVX2 void filter_columns_avx2(double const* const* rows, double const* weights, std::uint32_t taps,
                                              std::uint32_t count, double* out) noexcept {
  filter_columns(rows, weights, taps, count, out);
}
#endif

// Whether enough of a window is there. `counted` has one flag a pixel, `stride` apart.
[[nodiscard]] bool has_enough(std::uint8_t const* counted, std::size_t stride, std::uint32_t taps,
                              bool has_negative_weights) noexcept {
  std::uint32_t in_a_row = 0, longest = 0;
  for (std::uint32_t k = 0; k < taps; ++k) {
    in_a_row = counted[k * stride] != 0 ? in_a_row + 1 : 0;
    longest = std::max(longest, in_a_row);
  }
  return has_negative_weights ? longest >= taps / 2 : longest > 0;
}

template <class T>
class Kernel final : public Method {
 public:
  using W = std::conditional_t<std::is_same_v<tile::WorkedAs<T>, double>, double, float>;

  explicit Kernel(ReductionSpec const& spec)
      : columns_(spec.method, spec.source_width, spec.width, 255),
        rows_(spec.method, spec.source_height, spec.height, 1),
        runs_(runs_of(columns_)),
        source_width_(spec.source_width),
        has_negative_weights_(spec.method != Resampling::bilinear),
        marker_(marker_of<T>(spec)) {
    if (marker_) { avoided_ = tile::avoid_marker(*marker_); }
  }

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override {
    return {rows_.first[row], rows_.first[row] + rows_.count[row]};
  }

  [[nodiscard]] std::unique_ptr<MethodState> make_state() const override {
    auto state = std::make_unique<FilteredRows>();
    state->rows.resize(*std::max_element(rows_.count.begin(), rows_.count.end()));
    return state;
  }

  void reduce_band(std::uint32_t row, BandRows const& band, MethodState* state) const override {
    auto& kept = static_cast<FilteredRows&>(*state);
    auto* const out = reinterpret_cast<T*>(band.out);
    auto const width = static_cast<std::uint32_t>(columns_.size);
    bool const has_gaps = band.valid != nullptr || marker_;
    std::uint32_t const taps = rows_.count[row];
    std::vector<double const*> values(taps);
    std::vector<std::uint8_t const*> found(taps);
    std::vector<double> weights(taps);
    for (std::uint32_t k = 0; k < taps; ++k) {
      std::uint32_t const number = rows_.first[row] + k;
      FilteredRows::Row& filtered = kept.rows[number % kept.rows.size()];
      if (filtered.number != number) {
        auto const* const pixels = reinterpret_cast<T const*>(band.rows[k]);
        filter_row(pixels, has_gaps, band.valid != nullptr ? band.valid[k] : nullptr, kept, filtered);
        filtered.number = number;
      }
      values[k] = filtered.values.data();
      found[k] = filtered.found.data();
      weights[k] = (has_gaps ? rows_.plain : rows_.normalised)[k * rows_.size + row];
    }
    if (has_gaps) {
      for (std::uint32_t i = 0; i < width; ++i) { out[i] = gapped_pixel(values, found, weights, i); }
      return;
    }
    std::vector<double>& sums = kept.pixels;
    sums.resize(std::max<std::size_t>(source_width_, width));
#if TERRAZZO_HAVE_X86
    if (tile::has_avx2()) {
      filter_columns_avx2(values.data(), weights.data(), taps, width, sums.data());
    } else
#endif
    {
      filter_columns(values.data(), weights.data(), taps, width, sums.data());
    }
    for (std::uint32_t i = 0; i < width; ++i) { out[i] = finished(sums[i]); }
  }

  void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t,
                   std::uint8_t* out) const override {
    std::uint32_t const taps = rows_.count[row];
    std::vector<std::uint8_t> column(taps);
    for (std::size_t i = 0; i < columns_.size; ++i) {
      double sum = 0;
      for (std::uint32_t k = 0; k < taps; ++k) {
        column[k] = row_weight(valid[k], i) > 0 ? 1 : 0;
        sum += column[k] != 0 ? rows_.plain[k * rows_.size + row] : 0;
      }
      out[i] = has_enough(column.data(), 1, taps, has_negative_weights_) && sum > 0 ? 255 : 0;
    }
  }

 private:
  // Sum of the weights of the counted pixels of column window i; 0 where there are too few.
  [[nodiscard]] double row_weight(std::uint8_t const* counted, std::size_t i) const noexcept {
    std::uint8_t const* const window = counted + columns_.first[i];
    if (!has_enough(window, 1, columns_.count[i], has_negative_weights_)) { return 0; }
    double sum = 0;
    add_in_fours(sum, columns_.count[i],
                 [&](std::size_t k) { return window[k] != 0 ? columns_.plain[k * columns_.size + i] : 0.0; });
    return sum;
  }

  void filter_row(T const* in, bool has_gaps, std::uint8_t const* valid, FilteredRows& scratch,
                  FilteredRows::Row& row) const {
    std::vector<double>& pixels = scratch.pixels;
    pixels.resize(std::max<std::size_t>(source_width_, columns_.size));
    row.values.resize(columns_.size);
    if (!has_gaps) {
      for (std::uint32_t i = 0; i < source_width_; ++i) { pixels[i] = tile::convert_value<double>(in[i]); }
      for (KernelRun const& run : runs_) {
        RunTask const task{pixels.data() + columns_.first[run.begin],
                           columns_.normalised.data() + run.begin,
                           columns_.size,
                           row.values.data() + run.begin,
                           columns_.count[run.begin],
                           run.end - run.begin};
#if TERRAZZO_HAVE_X86
        if (tile::has_avx2()) {
          filter_run_avx2(task);
          continue;
        }
#endif
        filter_run(task);
      }
      return;
    }
    row.found.resize(columns_.size);
    scratch.counted.resize(source_width_);
    for (std::uint32_t i = 0; i < source_width_; ++i) {
      bool const counts = valid != nullptr ? valid[i] != 0 : !tile::is_marker(in[i], *marker_);
      scratch.counted[i] = counts ? 1 : 0;
      double const value = tile::convert_value<double>(in[i]);
      pixels[i] = counts ? value : 0.0;
    }
    for (std::size_t i = 0; i < columns_.size; ++i) {
      double const weight = row_weight(scratch.counted.data(), i);
      double sum = 0;
      for (std::size_t k = 0; k < columns_.count[i]; ++k) {
        bool const counts = scratch.counted[columns_.first[i] + k] != 0;
        sum += pixels[columns_.first[i] + k] * (counts ? columns_.plain[k * columns_.size + i] : 0.0);
      }
      row.found[i] = weight > 0 ? 1 : 0;
      row.values[i] = weight > 0 ? sum / weight : 0.0;
    }
  }

  [[nodiscard]] T gapped_pixel(std::vector<double const*> const& values, std::vector<std::uint8_t const*> const& found,
                               std::vector<double> const& weights, std::uint32_t i) const noexcept {
    double sum = 0, weight = 0;
    std::uint32_t in_a_row = 0, longest = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      double const share = found[k][i] != 0 ? weights[k] : 0.0;
      in_a_row = found[k][i] != 0 ? in_a_row + 1 : 0;
      longest = std::max(longest, in_a_row);
      sum += values[k][i] * share;
      weight += share;
    }
    bool const enough = !has_negative_weights_ || longest >= values.size() / 2;
    return enough && weight > 0 ? finished(sum / weight) : marker_.value_or(T{});
  }

  // Overshoots end at the limits of the type, and no result is the marker.
  [[nodiscard]] T finished(double value) const noexcept {
    constexpr bool kIsInteger = std::is_integral_v<T>;
    if constexpr (std::is_same_v<T, float>) {
      constexpr double kLargest = std::numeric_limits<float>::max();
      if (std::isfinite(value)) { value = std::clamp(value, -kLargest, kLargest); }
    }
    auto const worked = static_cast<W>(value);
    T const result = tile::rounded_to<T>(worked);
    if (!marker_) { return result; }
    bool hits = false;
    if constexpr (kIsInteger) {
      hits = result == *marker_;
    } else {
      hits = static_cast<double>(worked) == tile::convert_value<double>(*marker_);
    }
    return hits ? tile::convert_value<T>(avoided_.instead) : result;
  }

  KernelAxis columns_, rows_;
  std::vector<KernelRun> runs_;
  std::uint32_t source_width_;
  bool has_negative_weights_;
  std::optional<T> marker_;
  tile::Avoided<T> avoided_{};
};

}  // namespace

std::unique_ptr<Method> make_kernel(ReductionSpec const& spec) {
  std::unique_ptr<Method> method;
  tile::with_part_type(spec.dtype, [&]<class T>(std::type_identity<T>) { method = std::make_unique<Kernel<T>>(spec); });
  return method;
}

}  // namespace terrazzo::writing
