// SPDX-License-Identifier: Apache-2.0
//
// The mean of the source pixels that a result pixel covers. The arithmetic is that of tile/reduce_pixel.hpp; the loops
// here run it along whole rows, which compilers vectorize, and give the same bits.
#include "tile/convert_sample.hpp"
#include "tile/host/cpu.hpp"
#include "tile/reduce/average_avx2.hpp"
#include "tile/reduce/method.hpp"

#include <algorithm>

namespace terrazzo::tile {
namespace {

// Pixels of a row with windows of `size` source pixels, each two pixels after the previous one.
struct Run {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size = 0;  // 2 or 3; 0: windows of any kind
};

constexpr std::uint32_t kShortestRun = 8;

[[nodiscard]] std::vector<Run> runs_of(std::vector<AxisWindow> const& windows) {
  auto const width = static_cast<std::uint32_t>(windows.size());
  std::vector<Run> runs;
  for (std::uint32_t begin = 0; begin < width;) {
    std::uint32_t const size = windows[begin].size();
    std::uint32_t end = begin + 1;
    while (end < width && windows[end].size() == size && windows[end].first == windows[end - 1].first + 2) { ++end; }
    bool const regular = (size == 2 || size == 3) && end - begin >= kShortestRun;
    if (!regular && !runs.empty() && runs.back().size == 0) {
      runs.back().end = end;
    } else {
      runs.push_back({begin, end, regular ? size : 0});
    }
    begin = end;
  }
  return runs;
}

// Predicates for pixels that count, free of branches.
struct CountAll {};
struct CountByMask {
  template <class T>
  [[nodiscard]] bool operator()(T, std::uint8_t mask) const noexcept {
    return mask != 0;
  }
};
struct CountNumbers {
  template <class T>
  [[nodiscard]] bool operator()(T value, std::uint8_t) const noexcept {
    return value == value;
  }
};
template <class T>
struct CountOthers {
  T marker;
  [[nodiscard]] bool operator()(T value, std::uint8_t) const noexcept { return !is_marker(value, marker); }
};

// Pixels that are summed at a time; the sums stay in the L1 cache.
constexpr std::uint32_t kBlock = 256;

struct Sums {
  alignas(32) double total[kBlock];
  alignas(32) double weight[kBlock];
  alignas(32) double value[2 * kBlock + 2];
  alignas(32) double share[2 * kBlock + 2];
};

template <class T>
struct BlockTask {
  T const* const* rows = nullptr;
  std::uint8_t const* const* masks = nullptr;  // for CountByMask only
  std::size_t first = 0;                       // column of the first window
  std::uint32_t count = 0;                     // number of result pixels
  double const* first_weights = nullptr;
  double const* last_weights = nullptr;
  AxisWindow y{};
  double inverse = 1;  // factor for all values
};

// Sums in the same order as average_of_all() and average_of_valid(), pixel by pixel.
template <class T, std::uint32_t Size, class Counts>
[[gnu::always_inline]] inline void sum_block(BlockTask<T> const& task, Counts const& counts, Sums& sums) noexcept {
  constexpr bool kAll = std::is_same_v<Counts, CountAll>;
  std::uint32_t const count = task.count, columns = 2 * count + Size - 2;
  for (std::uint32_t i = 0; i < count; ++i) { sums.total[i] = 0; }
  if constexpr (!kAll) {
    for (std::uint32_t i = 0; i < count; ++i) { sums.weight[i] = 0; }
  }
  for (std::uint32_t r = 0; r < task.y.size(); ++r) {
    T const* const row = task.rows[r] + task.first;
    if constexpr (kAll) {
      for (std::uint32_t i = 0; i < columns; ++i) { sums.value[i] = convert_value<double>(row[i]) * task.inverse; }
    } else {
      std::uint8_t const* const mask = std::is_same_v<Counts, CountByMask> ? task.masks[r] + task.first : nullptr;
      for (std::uint32_t i = 0; i < columns; ++i) {
        bool const counted = counts(row[i], std::is_same_v<Counts, CountByMask> ? mask[i] : std::uint8_t{0});
        double const value = convert_value<double>(row[i]);
        sums.value[i] = counted ? value : 0.0;
        sums.share[i] = counted ? 1.0 : 0.0;
      }
    }
    double const share = task.y.weight(task.y.first + r);
    for (std::uint32_t i = 0; i < count; ++i) {
      double line = sums.value[2 * i] * task.first_weights[i];
      if constexpr (Size == 3) { line += sums.value[2 * i + 1]; }
      line += sums.value[2 * i + Size - 1] * task.last_weights[i];
      sums.total[i] += line * share;
    }
    if constexpr (!kAll) {
      for (std::uint32_t i = 0; i < count; ++i) {
        double line = sums.share[2 * i] * task.first_weights[i];
        if constexpr (Size == 3) { line += sums.share[2 * i + 1]; }
        line += sums.share[2 * i + Size - 1] * task.last_weights[i];
        sums.weight[i] += line * share;
      }
    }
  }
}

template <class T, class Counts>
[[gnu::always_inline]] inline void average_block(BlockTask<T> const& task, std::uint32_t size, Counts const& counts,
                                                 double const* total_weights, Avoided<T> const& avoided, T nothing,
                                                 T* __restrict__ out) noexcept {
  Sums sums;
  std::uint32_t const count = task.count;
  Avoided<T> const avoid = avoided;  // a local copy: stores to `out` cannot alias it
  if (size == 2) {
    sum_block<T, 2>(task, counts, sums);
  } else {
    sum_block<T, 3>(task, counts, sums);
  }
  if constexpr (std::is_same_v<Counts, CountAll>) {
    double const scale = average_scale<T>(size * task.y.size());
    double const rows_weight = task.y.total_weight;
    for (std::uint32_t i = 0; i < count; ++i) {
      out[i] = finish_average<T>(sums.total[i], total_weights[i] * rows_weight, scale, avoid);
    }
  } else {
    for (std::uint32_t i = 0; i < count; ++i) {
      bool const found = sums.weight[i] > 0;
      T const average = finish_average<T>(sums.total[i], found ? sums.weight[i] : 1.0, 1.0, avoid);
      out[i] = found ? average : nothing;
    }
  }
}

template <class T>
struct FourTask {
  T const* above = nullptr;
  T const* below = nullptr;
  T* out = nullptr;
  std::uint32_t width = 0;
};

template <class T>
[[gnu::always_inline]] inline void average_fours(FourTask<T> const& task) noexcept {
  std::uint32_t const width = task.width, tail = width - reading_order_tail<T>(width);
  T const *const above = task.above, *const below = task.below;
  T* __restrict__ const out = task.out;
  for (std::uint32_t i = 0; i < tail; ++i) {
    out[i] = average_of_four<T>(above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1], false);
  }
  for (std::uint32_t i = tail; i < width; ++i) {
    out[i] = average_of_four<T>(above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1], true);
  }
}

template <class T, class Counts>
[[gnu::always_inline]] inline void average_counted_fours(FourTask<T> const& task, std::uint8_t const* mask_above,
                                                         std::uint8_t const* mask_below, Counts counts,
                                                         Avoided<T> avoided, T nothing) noexcept {
  constexpr bool kMasked = std::is_same_v<Counts, CountByMask>;
  T const *const above = task.above, *const below = task.below;
  T* __restrict__ const out = task.out;
  std::uint32_t const width = task.width;
  for (std::uint32_t i = 0; i < width; ++i) {
    T const values[4] = {above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1]};
    std::uint8_t masks[4] = {};
    if constexpr (kMasked) {
      masks[0] = mask_above[2 * i];
      masks[1] = mask_above[2 * i + 1];
      masks[2] = mask_below[2 * i];
      masks[3] = mask_below[2 * i + 1];
    }
    bool const valid[4] = {counts(values[0], masks[0]), counts(values[1], masks[1]), counts(values[2], masks[2]),
                           counts(values[3], masks[3])};
    out[i] = average_of_valid_four<T>(values, valid, avoided, nothing);
  }
}

#if TERRAZZO_HAVE_X86
template <class T, class Counts>
TERRAZZO_TARGET_AVX2 void average_counted_fours_avx2(FourTask<T> const& task, std::uint8_t const* mask_above,
                                                     std::uint8_t const* mask_below, Counts counts,
                                                     Avoided<T> const& avoided, T nothing) noexcept {
  FourTask<T> rest = task;
  if constexpr (std::is_same_v<T, float>) {
    FloatFours floats{task.above, task.below, mask_above, mask_below, 0, nothing, avoided, task.out};
    std::uint32_t done = 0;
    if constexpr (std::is_same_v<Counts, CountNumbers>) {
      done = avx2::average_floats<Counted::numbers>(floats, task.width);
    } else if constexpr (std::is_same_v<Counts, CountByMask>) {
      done = avx2::average_floats<Counted::masked>(floats, task.width);
      mask_above += 2 * std::size_t{done};
      mask_below += 2 * std::size_t{done};
    } else {
      floats.marker = counts.marker;
      done = avx2::average_floats<Counted::others>(floats, task.width);
    }
    rest = {task.above + 2 * std::size_t{done}, task.below + 2 * std::size_t{done}, task.out + done, task.width - done};
  }
  average_counted_fours(rest, mask_above, mask_below, counts, avoided, nothing);
}

template <class T, class Counts>
TERRAZZO_TARGET_AVX2 void average_block_avx2(BlockTask<T> const& task, std::uint32_t size, Counts const& counts,
                                             double const* total_weights, Avoided<T> const& avoided, T nothing,
                                             T* out) noexcept {
  average_block(task, size, counts, total_weights, avoided, nothing, out);
}

template <class T>
TERRAZZO_TARGET_AVX2 void average_fours_avx2(FourTask<T> const& task) noexcept {
  average_fours(task);
}
#endif

template <class T>
class Average final : public Method {
 public:
  explicit Average(ReductionSpec const& spec)
      : columns_(covered_windows(spec.column_map(), spec.source_width, spec.width)),
        rows_(covered_windows(spec.row_map(), spec.source_height, spec.height)),
        runs_(runs_of(columns_)),
        columns_are_pairs_(are_pairs(columns_)),
        marker_(marker_of<T>(spec)) {
    if (marker_) { avoided_ = avoid_marker(*marker_); }
    for (AxisWindow const& window : columns_) {
      first_weights_.push_back(window.first_weight);
      last_weights_.push_back(window.last_weight);
      total_weights_.push_back(window.total_weight);
    }
  }

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override { return {rows_[row].first, rows_[row].last}; }

  void reduce_band(std::uint32_t row, BandRows const& band, MethodState*) const override {
    if (band.valid != nullptr) { return reduce_counted(row, band, CountByMask{}); }
    if (!marker_) {
      if (columns_are_pairs_ && rows_[row].size() == 2) { return reduce_fours(band); }
      return reduce_counted(row, band, CountAll{});
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (*marker_ != *marker_) { return reduce_counted(row, band, CountNumbers{}); }
    }
    reduce_counted(row, band, CountOthers<T>{*marker_});
  }

  void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t,
                   std::uint8_t* out) const override {
    any_valid(columns_, columns_are_pairs_, rows_[row].size(), valid, out);
  }

 private:
  void reduce_fours(BandRows const& band) const noexcept {
    FourTask<T> const task = four_task(band);
#if TERRAZZO_HAVE_X86
    if (has_avx2()) { return average_fours_avx2(task); }
#endif
    average_fours(task);
  }

  [[nodiscard]] FourTask<T> four_task(BandRows const& band) const noexcept {
    return {reinterpret_cast<T const*>(band.rows[0]), reinterpret_cast<T const*>(band.rows[1]),
            reinterpret_cast<T*>(band.out), static_cast<std::uint32_t>(columns_.size())};
  }

  template <class Counts>
  void reduce_counted_fours(BandRows const& band, Counts const& counts) const noexcept {
    std::uint8_t const* const mask_above = band.valid != nullptr ? band.valid[0] : nullptr;
    std::uint8_t const* const mask_below = band.valid != nullptr ? band.valid[1] : nullptr;
    T const nothing = marker_.value_or(T{});
#if TERRAZZO_HAVE_X86
    if (has_avx2()) {
      return average_counted_fours_avx2(four_task(band), mask_above, mask_below, counts, avoided_, nothing);
    }
#endif
    average_counted_fours(four_task(band), mask_above, mask_below, counts, avoided_, nothing);
  }

  template <class Counts>
  void reduce_counted(std::uint32_t row, BandRows const& band, Counts const& counts) const noexcept {
    if constexpr (!std::is_same_v<Counts, CountAll>) {
      AxisWindow const& two = rows_[row];
      if (columns_are_pairs_ && two.size() == 2 && two.first_weight == 1 && two.last_weight == 1) {
        return reduce_counted_fours(band, counts);
      }
    }
    auto const* const* const rows = reinterpret_cast<T const* const*>(band.rows);
    auto* const out = reinterpret_cast<T*>(band.out);
    AxisWindow const& y = rows_[row];
    T const nothing = marker_.value_or(T{});
    for (Run const& run : runs_) {
      if (run.size == 0) {
        for (std::uint32_t i = run.begin; i < run.end; ++i) {
          out[i] = one_pixel(columns_[i], y, band, counts, nothing);
        }
        continue;
      }
      for (std::uint32_t i = run.begin; i < run.end; i += kBlock) {
        BlockTask<T> const task{rows,
                                band.valid,
                                columns_[i].first,
                                std::min(kBlock, run.end - i),
                                first_weights_.data() + i,
                                last_weights_.data() + i,
                                y,
                                1.0 / average_scale<T>(run.size * y.size())};
#if TERRAZZO_HAVE_X86
        if (has_avx2()) {
          average_block_avx2(task, run.size, counts, total_weights_.data() + i, avoided_, nothing, out + i);
          continue;
        }
#endif
        average_block(task, run.size, counts, total_weights_.data() + i, avoided_, nothing, out + i);
      }
    }
  }

  template <class Counts>
  [[nodiscard]] T one_pixel(AxisWindow const& x, AxisWindow const& y, BandRows const& band, Counts const& counts,
                            T nothing) const noexcept {
    auto const sample = [&](std::uint32_t column, std::uint32_t source_row) {
      return reinterpret_cast<T const*>(band.rows[source_row - band.first_row])[column];
    };
    if constexpr (std::is_same_v<Counts, CountAll>) {
      return average_of_all<T>(x, y, avoided_, sample);
    } else {
      auto const valid = [&](std::uint32_t column, std::uint32_t source_row) {
        bool const by_mask = std::is_same_v<Counts, CountByMask>;
        return counts(sample(column, source_row),
                      by_mask ? band.valid[source_row - band.first_row][column] : std::uint8_t{0});
      };
      return average_of_valid<T>(x, y, avoided_, nothing, sample, valid);
    }
  }

  std::vector<AxisWindow> columns_, rows_;
  std::vector<double> first_weights_, last_weights_, total_weights_;  // one entry per column
  std::vector<Run> runs_;
  bool columns_are_pairs_;
  std::optional<T> marker_;
  Avoided<T> avoided_{};
};

// Mean or root mean square of both parts of complex numbers, over windows of whole pixels; complex numbers have no
// marker.
template <class Part>
class ComplexAverage final : public Method {
 public:
  ComplexAverage(ReductionSpec const& spec, bool of_squares)
      : of_squares_(of_squares),
        columns_(windows(spec.source_width, spec.width)),
        rows_(windows(spec.source_height, spec.height)),
        columns_are_pairs_(are_pairs(columns_)) {}

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override { return {rows_[row].first, rows_[row].last}; }

  void reduce_band(std::uint32_t row, BandRows const& band, MethodState*) const override {
    auto* const out = reinterpret_cast<Part*>(band.out);
    std::uint32_t const count = rows_[row].size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      ComplexMean mean{of_squares_};
      for (std::uint32_t r = 0; r < count; ++r) {
        auto const* const in = reinterpret_cast<Part const*>(band.rows[r]);
        for (std::size_t c = columns_[i].first; c < columns_[i].last; ++c) { mean.add(in[2 * c], in[2 * c + 1]); }
      }
      double const pixels = static_cast<double>(count) * columns_[i].size();
      out[2 * i] = mean.finished<Part>(mean.real, pixels);
      out[2 * i + 1] = mean.finished<Part>(mean.imaginary, pixels);
    }
  }

  void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t,
                   std::uint8_t* out) const override {
    any_valid(columns_, columns_are_pairs_, rows_[row].size(), valid, out);
  }

 private:
  static std::vector<AxisWindow> windows(std::uint32_t source_size, std::uint32_t size) {
    double const ratio = static_cast<double>(source_size) / size;
    std::vector<AxisWindow> result(size);
    for (std::uint32_t i = 0; i < size; ++i) { result[i] = rounded_pixels(i, ratio, source_size, i + 1 == size); }
    return result;
  }

  bool of_squares_;
  std::vector<AxisWindow> columns_, rows_;
  bool columns_are_pairs_;
};

}  // namespace

std::unique_ptr<Method> make_complex_average(ReductionSpec const& spec, bool of_squares) {
  auto const make = []<class T>(std::type_identity<T>, ReductionSpec const& with, bool squares) {
    return std::make_unique<ComplexAverage<T>>(with, squares);
  };
  return make_for_type(spec, make, of_squares);
}

std::unique_ptr<Method> make_average(ReductionSpec const& spec) {
  if (is_complex(spec.dtype)) { return make_complex_average(spec, false); }
  return make_for_type(spec, []<class T>(std::type_identity<T>, ReductionSpec const& with) {
    return std::make_unique<Average<T>>(with);
  });
}

}  // namespace terrazzo::tile
