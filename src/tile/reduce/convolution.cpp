// SPDX-License-Identifier: Apache-2.0
//
// Bilinear, cubic, cubic spline and Lanczos as tile/reduce_convolution.hpp has them, along whole rows; source rows that
// were filtered are kept while result rows still need them.
#include "tile/convert_sample.hpp"
#include "tile/host/cpu.hpp"
#include "tile/reduce/method.hpp"
#include "tile/reduce_convolution.hpp"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace terrazzo::tile {
namespace {

// Windows [begin, end) have equal lengths, each `step` pixels after the previous one.
struct KernelRun {
  std::uint32_t begin = 0, end = 0, step = 0;
};

constexpr std::uint32_t kShortestRun = 16;

[[nodiscard]] std::vector<KernelRun> runs_of(KernelAxis const& axis) {
  std::vector<KernelRun> runs;
  auto const size = static_cast<std::uint32_t>(axis.size);
  for (std::uint32_t begin = 0; begin < size;) {
    std::uint32_t end = begin + 1;
    std::uint32_t const step = end < size ? axis.first[end] - axis.first[begin] : 0;
    while (end < size && axis.count[end] == axis.count[begin] && axis.first[end] == axis.first[end - 1] + step) {
      ++end;
    }
    if (end - begin >= kShortestRun) { runs.push_back({begin, end, step}); }
    begin = end;
  }
  return runs;
}

// The other windows, by their lengths: windows of a ratio that is no whole number differ in length by one.
struct KernelGroup {
  std::uint32_t taps = 0;
  std::vector<std::uint32_t> index{};  // of the windows
  std::vector<std::int32_t> first{};  // of their pixels
  std::vector<double> weights{};  // weights[k * index.size() + j]: of the k-th pixel of the j-th window
};

[[nodiscard]] std::vector<KernelGroup> groups_of(KernelAxis const& axis, std::vector<KernelRun> const& runs) {
  std::map<std::uint32_t, KernelGroup> by_taps;
  auto run = runs.begin();
  for (std::uint32_t i = 0; i < axis.size; ++i) {
    if (run != runs.end() && i == run->begin) {
      i = run->end - 1;
      ++run;
      continue;
    }
    KernelGroup& group = by_taps[axis.count[i]];
    group.taps = axis.count[i];
    group.index.push_back(i);
    group.first.push_back(static_cast<std::int32_t>(axis.first[i]));
  }
  std::vector<KernelGroup> groups;
  for (auto& [taps, group] : by_taps) {
    group.weights.reserve(std::size_t{taps} * group.index.size());
    for (std::size_t k = 0; k < taps; ++k) {
      for (std::uint32_t const i : group.index) { group.weights.push_back(axis.normalised[k * axis.size + i]); }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// Source rows after filtering along the row, kept while result rows still need them.
struct FilteredRows final : MethodState {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Row {
    std::uint32_t number = kNone;
    std::vector<double> values{};
    std::vector<std::uint8_t> found{};  // only if pixels can be missing
  };
  std::vector<Row> rows{};  // row n at index n % size
  std::vector<double> pixels{};
  std::vector<std::uint8_t> counted{};
};

struct RunTask {
  double const* pixels = nullptr;  // of the first window
  std::uint32_t step = 2;  // between windows
  double const* weights = nullptr;  // of the first pixel of the first window
  std::size_t weights_stride = 0;
  double* out = nullptr;
  std::uint32_t taps = 0, count = 0;
};

// GDAL's order of summation: two sums, of the first and of the second pair of every four; the remaining pixels are
// added to the first sum.
template <class Step>
[[gnu::always_inline]] inline void filter_steps(RunTask const& task, Step const step) noexcept {
  constexpr std::uint32_t kBlock = 256;
  alignas(32) double first[kBlock];
  alignas(32) double second[kBlock];
  for (std::uint32_t begin = 0; begin < task.count; begin += kBlock) {
    std::uint32_t const count = std::min(kBlock, task.count - begin);
    for (std::uint32_t i = 0; i < count; ++i) { first[i] = second[i] = 0; }
    std::uint32_t const in_fours = task.taps & ~3U;
    for (std::uint32_t k = 0; k < task.taps; ++k) {
      double* const sum = k < in_fours && (k & 2U) != 0 ? second : first;
      double const* const pixels = task.pixels + std::size_t{step} * begin + k;
      double const* const weights = task.weights + k * task.weights_stride + begin;
      for (std::uint32_t i = 0; i < count; ++i) { sum[i] += pixels[step * i] * weights[i]; }
    }
    for (std::uint32_t i = 0; i < count; ++i) { task.out[begin + i] = first[i] + second[i]; }
  }
}

[[gnu::always_inline]] inline void filter_run(RunTask const& task) noexcept {
  if (task.step == 2) {
    filter_steps(task, std::integral_constant<std::uint32_t, 2>{});  // the step of most overviews, as a constant
  } else {
    filter_steps(task, task.step);
  }
}

// The same sums of a group's windows.
[[gnu::always_inline]] inline void filter_group(KernelGroup const& group, double const* pixels, double* out) noexcept {
  constexpr std::uint32_t kBlock = 256;
  alignas(32) double first[kBlock];
  alignas(32) double second[kBlock];
  auto const size = static_cast<std::uint32_t>(group.index.size());
  for (std::uint32_t begin = 0; begin < size; begin += kBlock) {
    std::uint32_t const count = std::min(kBlock, size - begin);
    for (std::uint32_t i = 0; i < count; ++i) { first[i] = second[i] = 0; }
    std::uint32_t const in_fours = group.taps & ~3U;
    std::int32_t const* const at = group.first.data() + begin;
    for (std::uint32_t k = 0; k < group.taps; ++k) {
      double* const sum = k < in_fours && (k & 2U) != 0 ? second : first;
      double const* const from = pixels + k;
      double const* const weights = group.weights.data() + std::size_t{k} * size + begin;
      for (std::uint32_t i = 0; i < count; ++i) { sum[i] += from[at[i]] * weights[i]; }
    }
    for (std::uint32_t i = 0; i < count; ++i) { out[group.index[begin + i]] = first[i] + second[i]; }
  }
}

// The same sums across rows: `rows` of `count` values, one weight each.
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
TERRAZZO_TARGET_AVX2 void filter_group_avx2(KernelGroup const& group, double const* pixels, double* out) noexcept {
  filter_group(group, pixels, out);
}
TERRAZZO_TARGET_AVX2 void filter_columns_avx2(double const* const* rows, double const* weights, std::uint32_t taps,
                                              std::uint32_t count, double* out) noexcept {
  filter_columns(rows, weights, taps, count, out);
}
#endif

constexpr std::uint8_t kCountsFully = 255;  // as in GDAL's masks

// True if enough pixels of a window count. `counted` has one flag per pixel.
[[nodiscard]] bool has_enough(std::uint8_t const* counted, std::uint32_t taps, bool has_negative_weights) noexcept {
  FoundPixels found;
  for (std::uint32_t k = 0; k < taps; ++k) { found.add(counted[k] != 0); }
  return found.are_enough(taps, has_negative_weights);
}

constexpr std::uint64_t kKeptBytes = sizeof(double) + 1;  // of a pixel of FilteredRows::Row

template <class T>
class Kernel final : public Method {
 public:
  explicit Kernel(ReductionSpec const& spec)
      : columns_(spec.method, spec.column_map(), spec.source_width, spec.width, 1),
        rows_(spec.method, spec.row_map(), spec.source_height, spec.height, kRowUnit),
        runs_(runs_of(columns_)),
        groups_(groups_of(columns_, runs_)),
        source_width_(spec.source_width),
        has_negative_weights_(has_negative_weights(spec.method)),
        mask_has_weights_(spec.mask_has_weights),
        marker_(make_marker<T>(spec)) {}

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override {
    return {rows_.first[row], rows_.first[row] + rows_.count[row]};
  }

  [[nodiscard]] std::unique_ptr<MethodState> make_state() const override {
    auto state = std::make_unique<FilteredRows>();
    state->rows.resize(*std::max_element(rows_.count.begin(), rows_.count.end()));
    return state;
  }

  [[nodiscard]] std::uint64_t scratch_bytes() const override {
    std::uint64_t const kept = *std::max_element(rows_.count.begin(), rows_.count.end());
    std::uint64_t const pixels = std::max<std::uint64_t>(source_width_, columns_.size);
    return kept * columns_.size * kKeptBytes + pixels * (sizeof(double) + 1);
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
        band.poller.spend(source_width_ + columns_.normalised.size());
        filter_row(pixels, has_gaps, band.valid != nullptr ? band.valid[k] : nullptr, kept, filtered);
        filtered.number = number;
      }
      values[k] = filtered.values.data();
      found[k] = filtered.found.data();
      weights[k] = (has_gaps ? rows_.plain : rows_.normalised)[k * rows_.size + row];
    }
    band.poller.spend(std::uint64_t{taps} * width);
    if (has_gaps) {
      for (std::uint32_t i = 0; i < width; ++i) { out[i] = gapped_pixel(values, found, weights, i); }
      return;
    }
    std::vector<double>& sums = kept.pixels;
    sums.resize(std::max<std::size_t>(source_width_, width));
#if TERRAZZO_HAVE_X86
    if (has_avx2()) {
      filter_columns_avx2(values.data(), weights.data(), taps, width, sums.data());
    } else
#endif
    {
      filter_columns(values.data(), weights.data(), taps, width, sums.data());
    }
    for (std::uint32_t i = 0; i < width; ++i) { out[i] = finish_filtered<T>(sums[i], marker_); }
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
  // The sum of the weights of the counted pixels of column window i; 0 if there are too few.
  [[nodiscard]] double row_weight(std::uint8_t const* counted, std::size_t i) const noexcept {
    std::uint8_t const* const window = counted + columns_.first[i];
    if (!has_enough(window, columns_.count[i], has_negative_weights_)) { return 0; }
    double sum = 0;
    add_in_fours(sum, columns_.count[i], [&](std::size_t k) { return column_weight(window[k], k, i); });
    return sum;
  }

  // The weight of the k-th pixel of window i, which counts by `counted` (0 to 255).
  [[nodiscard]] double column_weight(std::uint8_t counted, std::size_t k, std::size_t i) const noexcept {
    return counted != 0 ? columns_.plain[k * columns_.size + i] * (mask_has_weights_ ? counted : kCountsFully) : 0.0;
  }

  void filter_row(T const* in, bool has_gaps, std::uint8_t const* valid, FilteredRows& scratch,
                  FilteredRows::Row& row) const {
    std::vector<double>& pixels = scratch.pixels;
    pixels.resize(std::max<std::size_t>(source_width_, columns_.size));
    row.values.resize(columns_.size);
    if (!has_gaps) {
      for (std::uint32_t i = 0; i < source_width_; ++i) { pixels[i] = convert_value<double>(in[i]); }
      for (KernelRun const& run : runs_) {
        RunTask const task{pixels.data() + columns_.first[run.begin],
                           run.step,
                           columns_.normalised.data() + run.begin,
                           columns_.size,
                           row.values.data() + run.begin,
                           columns_.count[run.begin],
                           run.end - run.begin};
#if TERRAZZO_HAVE_X86
        if (has_avx2()) {
          filter_run_avx2(task);
          continue;
        }
#endif
        filter_run(task);
      }
      for (KernelGroup const& group : groups_) {
#if TERRAZZO_HAVE_X86
        if (has_avx2()) {
          filter_group_avx2(group, pixels.data(), row.values.data());
          continue;
        }
#endif
        filter_group(group, pixels.data(), row.values.data());
      }
      return;
    }
    row.found.resize(columns_.size);
    scratch.counted.resize(source_width_);
    for (std::uint32_t i = 0; i < source_width_; ++i) {
      bool const counts = valid != nullptr ? valid[i] != 0 : !is_marker(in[i], marker_.value);
      std::uint8_t const weight = valid != nullptr && mask_has_weights_ ? valid[i] : kCountsFully;
      std::uint8_t const counted = counts ? weight : std::uint8_t{0};
      scratch.counted[i] = counted;
      double const value = convert_value<double>(in[i]);
      pixels[i] = counted != 0 ? value : 0.0;
    }
    for (std::size_t i = 0; i < columns_.size; ++i) {
      double const weight = row_weight(scratch.counted.data(), i);
      double sum = 0;
      for (std::size_t k = 0; k < columns_.count[i]; ++k) {
        std::size_t const at = columns_.first[i] + k;
        sum += pixels[at] * column_weight(scratch.counted[at], k, i);
      }
      row.found[i] = weight > 0 ? 1 : 0;
      row.values[i] = weight > 0 ? sum / weight : 0.0;
    }
  }

  [[nodiscard]] T gapped_pixel(std::vector<double const*> const& values, std::vector<std::uint8_t const*> const& found,
                               std::vector<double> const& weights, std::uint32_t i) const noexcept {
    double sum = 0, weight = 0;
    FoundPixels rows;
    for (std::size_t k = 0; k < values.size(); ++k) {
      double const share = found[k][i] != 0 ? weights[k] : 0.0;
      rows.add(found[k][i] != 0);
      sum += values[k][i] * share;
      weight += share;
    }
    bool const enough = !has_negative_weights_ || rows.are_enough(static_cast<std::uint32_t>(values.size()), true);
    return enough && weight > 0 ? finish_filtered<T>(sum / weight, marker_) : marker_.value;
  }

  KernelAxis columns_, rows_;
  std::vector<KernelRun> runs_;
  std::vector<KernelGroup> groups_;
  std::uint32_t source_width_;
  bool has_negative_weights_;
  bool mask_has_weights_;
  Marker<T> marker_;
};

}  // namespace

std::unique_ptr<Method> make_kernel(ReductionSpec const& spec) {
  return make_for_type(spec, []<class T>(std::type_identity<T>, ReductionSpec const& with) {
    return std::make_unique<Kernel<T>>(with);
  });
}

}  // namespace terrazzo::tile
