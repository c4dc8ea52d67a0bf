// SPDX-License-Identifier: Apache-2.0
//
// Minimum, maximum, median and mode: the rules of tile/reduce_rank.hpp, along whole rows.
#include "tile/convert_sample.hpp"
#include "tile/host/cpu.hpp"
#include "tile/reduce/method.hpp"
#include "tile/reduce/most_frequent.hpp"
#include "tile/reduce_rank.hpp"

#include <algorithm>
#include <limits>

namespace terrazzo::tile {
namespace {

template <class T>
struct Smallest {
  static constexpr bool kIsExtreme = true;
  // The value that loses against every other value.
  [[nodiscard]] static T loser() noexcept {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  [[nodiscard]] static T better(T a, T b) noexcept { return b < a ? b : a; }
  [[nodiscard]] static T pick(std::vector<T> const& values) noexcept {
    return *std::min_element(values.begin(), values.end(), is_less<T>);
  }
  static constexpr bool kTakesNaN = false;
};

template <class T>
struct Largest {
  static constexpr bool kIsExtreme = true;
  [[nodiscard]] static T loser() noexcept {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  [[nodiscard]] static T better(T a, T b) noexcept { return a < b ? b : a; }
  [[nodiscard]] static T pick(std::vector<T> const& values) noexcept {
    return *std::max_element(values.begin(), values.end(), is_less<T>);
  }
  static constexpr bool kTakesNaN = false;
};

// The median; the mean of the middle two for an even count.
template <class T>
struct Middle {
  static constexpr bool kIsExtreme = false;
  [[nodiscard]] static T pick(std::vector<T>& values) noexcept {
    std::size_t const half = values.size() / 2;
    auto const upper = values.begin() + static_cast<std::ptrdiff_t>(half);
    // Compare keys, since their order decides between zeros of two signs.
    auto const before = [](T a, T b) { return order_key(a) < order_key(b); };
    std::nth_element(values.begin(), upper, values.end(), before);
    if (values.size() % 2 != 0) { return *upper; }
    return mean_of_middle(*std::max_element(values.begin(), upper, before), *upper);
  }
  static constexpr bool kTakesNaN = false;
};

template <class T>
struct MostFrequent {
  static constexpr bool kIsExtreme = false;
  static constexpr bool kTakesNaN = true;
};

// Windows of two by two pixels without a branch, which compilers vectorize.
template <class T, class Rule, class Counts>
[[gnu::always_inline]] inline void extremes(T const* above, T const* below, T* __restrict__ out, std::uint32_t width,
                                            T nothing, Counts const& counts) noexcept {
  for (std::uint32_t i = 0; i < width; ++i) {
    T const a = above[2 * i], b = above[2 * i + 1], c = below[2 * i], d = below[2 * i + 1];
    bool const va = counts(a), vb = counts(b), vc = counts(c), vd = counts(d);
    T const loser = Rule::loser();
    T const best =
        Rule::better(Rule::better(va ? a : loser, vb ? b : loser), Rule::better(vc ? c : loser, vd ? d : loser));
    out[i] = (va | vb | vc | vd) ? best : nothing;
  }
}

template <class T, class Rule>
[[gnu::always_inline]] inline void extremes_of_fours(T const* above, T const* below, T* out, std::uint32_t width,
                                                     std::optional<T> marker, T nothing) noexcept {
  if (!marker || !is_number(*marker)) {
    extremes<T, Rule>(above, below, out, width, nothing, [](T value) { return value == value; });
  } else {
    T const skipped = *marker;
    extremes<T, Rule>(above, below, out, width, nothing,
                      [skipped](T value) { return (value == value) & !is_marker(value, skipped); });
  }
}

#if TERRAZZO_HAVE_X86
template <class T, class Rule>
TERRAZZO_TARGET_AVX2 void extremes_of_fours_avx2(T const* above, T const* below, T* out, std::uint32_t width,
                                                 std::optional<T> marker, T nothing) noexcept {
  extremes_of_fours<T, Rule>(above, below, out, width, marker, nothing);
}
#endif

template <class T, class Rule>
class Rank final : public Method {
 public:
  explicit Rank(ReductionSpec const& spec)
      : columns_(covered_windows(spec.column_map(), spec.source_width, spec.width)),
        rows_(covered_windows(spec.row_map(), spec.source_height, spec.height)),
        widest_(widest(columns_)),
        tallest_(widest(rows_)),
        columns_are_pairs_(are_pairs(columns_)),
        marker_(marker_of<T>(spec)) {}

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override { return {rows_[row].first, rows_[row].last}; }

  [[nodiscard]] std::uint64_t scratch_bytes() const override {
    std::uint64_t const pixels = std::uint64_t{widest_} * tallest_;
    return pixels * sizeof(T) + (kIsMode ? MostFrequentFinder<T>::scratch_bytes(pixels) : 0);
  }

  void reduce_band(std::uint32_t row, BandRows const& band, MethodState*) const override {
    auto* const out = reinterpret_cast<T*>(band.out);
    if constexpr (Rule::kIsExtreme && !std::is_same_v<T, Half>) {
      if (columns_are_pairs_ && rows_[row].size() == 2 && band.valid == nullptr) { return reduce_fours(band); }
    }
    T const nothing = band.is_alpha ? T{} : marker_.value_or(band.valid != nullptr ? T{} : no_number<T>());
    std::vector<T> values;
    values.reserve(std::size_t{widest_} * rows_[row].size());
    MostFrequentFinder<T> finder;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      values.clear();
      for (std::uint32_t r = 0; r < rows_[row].size(); ++r) {
        band.poller.spend(columns_[i].size());
        auto const* const pixels = reinterpret_cast<T const*>(band.rows[r]);
        for (std::uint32_t c = columns_[i].first; c < columns_[i].last; ++c) {
          bool const valid =
              band.valid != nullptr ? band.valid[r][c] != 0 : !marker_ || !is_marker(pixels[c], *marker_);
          if (valid && (Rule::kTakesNaN || is_number(pixels[c]))) { values.push_back(pixels[c]); }
        }
      }
      if (values.empty()) {
        out[i] = nothing;
      } else if constexpr (kIsMode) {
        out[i] = finder.find(values, band.poller);
      } else {
        out[i] = Rule::pick(values);
      }
    }
  }

  void reduce_mask(std::uint32_t row, std::uint8_t const* const* valid, std::uint32_t,
                   std::uint8_t* out) const override {
    if constexpr (!kIsMode) {
      any_valid(columns_, columns_are_pairs_, rows_[row].size(), valid, out);
    } else {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        out[i] = majority(columns_[i], rows_[row].size(), valid) ? 255 : 0;
      }
    }
  }

 private:
  static constexpr bool kIsMode = std::is_same_v<Rule, MostFrequent<T>>;

  // Of equal counts, the one that is reached first in reading order decides.
  [[nodiscard]] static bool majority(AxisWindow const& columns, std::uint32_t row_count,
                                     std::uint8_t const* const* valid) noexcept {
    std::uint64_t counts[2] = {0, 0}, most = 0;
    bool best = false;
    for (std::uint32_t r = 0; r < row_count; ++r) {
      for (std::uint32_t c = columns.first; c < columns.last; ++c) {
        bool const is_valid = valid[r][c] != 0;
        if (++counts[is_valid ? 1 : 0] > most) {
          ++most;
          best = is_valid;
        }
      }
    }
    return best;
  }

  void reduce_fours(BandRows const& band) const noexcept {
    auto const* const above = reinterpret_cast<T const*>(band.rows[0]);
    auto const* const below = reinterpret_cast<T const*>(band.rows[1]);
    auto const width = static_cast<std::uint32_t>(columns_.size());
    T const nothing = marker_.value_or(no_number<T>());
#if TERRAZZO_HAVE_X86
    if (has_avx2()) {
      return extremes_of_fours_avx2<T, Rule>(above, below, reinterpret_cast<T*>(band.out), width, marker_, nothing);
    }
#endif
    extremes_of_fours<T, Rule>(above, below, reinterpret_cast<T*>(band.out), width, marker_, nothing);
  }

  [[nodiscard]] static std::uint32_t widest(std::vector<AxisWindow> const& windows) noexcept {
    std::uint32_t most = 0;
    for (AxisWindow const& window : windows) { most = std::max(most, window.size()); }
    return most;
  }

  std::vector<AxisWindow> columns_, rows_;
  std::uint32_t widest_, tallest_;  // pixels of the longest window of either axis
  bool columns_are_pairs_;
  std::optional<T> marker_;
};

}  // namespace

std::unique_ptr<Method> make_rank(ReductionSpec const& spec) {
  auto const make = []<class T>(std::type_identity<T>, ReductionSpec const& with) -> std::unique_ptr<Method> {
    switch (with.method) {
      case Resampling::minimum: return std::make_unique<Rank<T, Smallest<T>>>(with);
      case Resampling::maximum: return std::make_unique<Rank<T, Largest<T>>>(with);
      case Resampling::median: return std::make_unique<Rank<T, Middle<T>>>(with);
      default: return std::make_unique<Rank<T, MostFrequent<T>>>(with);
    }
  };
  return make_for_type(spec, make);
}

}  // namespace terrazzo::tile
