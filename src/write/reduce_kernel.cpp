// SPDX-License-Identifier: Apache-2.0
//
// Bilinear, cubic and Lanczos as tile/reduce_kernel.hpp has them, along whole rows; source rows that were filtered are
// kept while result rows still need them.
#include "tile/reduce_kernel.hpp"
#include "tile/convert_sample.hpp"
#include "tile/cpu.hpp"
#include "write/reduce_method.hpp"

#include <algorithm>

namespace terrazzo::writing {
namespace {

using tile::KernelAxis;

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

// Whether enough of a window is there. `counted` has one flag a pixel.
[[nodiscard]] bool has_enough(std::uint8_t const* counted, std::uint32_t taps, bool has_negative_weights) noexcept {
  tile::FoundPixels found;
  for (std::uint32_t k = 0; k < taps; ++k) { found.add(counted[k] != 0); }
  return found.are_enough(taps, has_negative_weights);
}

template <class T>
class Kernel final : public Method {
 public:
  explicit Kernel(ReductionSpec const& spec)
      : columns_(spec.method, spec.source_width, spec.width, tile::kColumnUnit),
        rows_(spec.method, spec.source_height, spec.height, tile::kRowUnit),
        runs_(runs_of(columns_)),
        source_width_(spec.source_width),
        has_negative_weights_(spec.method != Resampling::bilinear),
        marker_(tile::make_marker<T>(spec)) {}

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
    bool const has_gaps = band.valid != nullptr || marker_.present;
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
    for (std::uint32_t i = 0; i < width; ++i) { out[i] = tile::finish_filtered<T>(sums[i], marker_); }
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
      out[i] = has_enough(column.data(), taps, has_negative_weights_) && sum > 0 ? 255 : 0;
    }
  }

 private:
  // Sum of the weights of the counted pixels of column window i; 0 where there are too few.
  [[nodiscard]] double row_weight(std::uint8_t const* counted, std::size_t i) const noexcept {
    std::uint8_t const* const window = counted + columns_.first[i];
    if (!has_enough(window, columns_.count[i], has_negative_weights_)) { return 0; }
    double sum = 0;
    tile::add_in_fours(sum, columns_.count[i],
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
      bool const counts = valid != nullptr ? valid[i] != 0 : !tile::is_marker(in[i], marker_.value);
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
    tile::FoundPixels rows;
    for (std::size_t k = 0; k < values.size(); ++k) {
      double const share = found[k][i] != 0 ? weights[k] : 0.0;
      rows.add(found[k][i] != 0);
      sum += values[k][i] * share;
      weight += share;
    }
    bool const enough = !has_negative_weights_ || rows.are_enough(static_cast<std::uint32_t>(values.size()), true);
    return enough && weight > 0 ? tile::finish_filtered<T>(sum / weight, marker_) : marker_.value;
  }

  KernelAxis columns_, rows_;
  std::vector<KernelRun> runs_;
  std::uint32_t source_width_;
  bool has_negative_weights_;
  tile::Marker<T> marker_;
};

}  // namespace

std::unique_ptr<Method> make_kernel(ReductionSpec const& spec) {
  std::unique_ptr<Method> method;
  tile::with_part_type(spec.dtype, [&]<class T>(std::type_identity<T>) { method = std::make_unique<Kernel<T>>(spec); });
  return method;
}

}  // namespace terrazzo::writing
