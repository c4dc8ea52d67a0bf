// SPDX-License-Identifier: Apache-2.0
//
// Minimum, maximum, median and mode of the source pixels that a result pixel covers; a partly covered pixel counts
// fully. The first three ignore NaN. Among equal values the first in reading order is taken, which matters for zeros of
// two signs; the median treats -0 as smaller than 0.
#pragma once

#include "base/host_device.hpp"
#include "tile/reduce_marker.hpp"
#include "tile/reduce_task.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace terrazzo::tile {

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_number(T value) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return (value.bits & 0x7FFFU) <= 0x7C00U;
  } else {
    return value == value;
  }
}

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_less(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(a.bits) < half_to_float(b.bits);
  } else {
    return a < b;
  }
}

// All NaNs count as one value.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool is_same(T a, T b) noexcept {
  return (!is_less(a, b) && !is_less(b, a) && is_number(a) && is_number(b)) || (!is_number(a) && !is_number(b));
}

// The result of a window without valid pixels if there is no marker.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T no_number() noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return {0x7E00U};
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::quiet_NaN();
  } else {
    return 0;
  }
}

template <class T>
using OrderKey =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// The order of keys is the order of numbers.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline OrderKey<T> order_key(T value) noexcept {
  using Key = OrderKey<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  Key bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if constexpr (is_real_float<T>) {
    return (bits & kSign) != 0 ? static_cast<Key>(~bits) : static_cast<Key>(bits | kSign);
  } else {
    return std::is_signed_v<T> ? static_cast<Key>(bits ^ kSign) : bits;
  }
}

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T value_of_key(OrderKey<T> key) noexcept {
  using Key = OrderKey<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  Key bits = key;
  if constexpr (is_real_float<T>) {
    bits = (key & kSign) != 0 ? static_cast<Key>(key ^ kSign) : static_cast<Key>(~key);
  } else if constexpr (std::is_signed_v<T>) {
    bits = static_cast<Key>(key ^ kSign);
  }
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The mean of the middle two, for an even count.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T mean_of_middle(T lower, T upper) noexcept {
  if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    // In integers, since doubles have too few digits; halves away from zero.
    auto const difference = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
    auto const below = static_cast<T>(static_cast<std::uint64_t>(lower) + difference / 2);
    return difference % 2 != 0 && below >= 0 ? static_cast<T>(below + 1) : below;
  } else {
    return rounded_to<T>((convert_value<double>(lower) * 0.5 + convert_value<double>(upper) * 0.5));
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Without storage: every pass reads the window again

// The valid pixels of a window, in reading order.
template <class T>
struct RankWindow {
  AxisWindow const& x;
  AxisWindow const& y;
  BandSamples<T> sample;
  CountedSamples<T> counted;

  template <class F>
  TERRAZZO_HOST_DEVICE void for_each(F const& f) const noexcept {
    for (std::uint32_t row = y.first; row < y.last; ++row) {
      for (std::uint32_t column = x.first; column < x.last; ++column) {
        if (counted(column, row)) { f(sample(column, row)); }
      }
    }
  }
};

// Each rule returns `nothing` if no pixel is valid.
template <bool Largest>
struct PickExtreme {
  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T pick(RankWindow<T> const& window, T nothing) noexcept {
    bool found = false;
    T best = nothing;
    window.for_each([&](T value) {
      if (is_number(value) && (!found || (Largest ? is_less(best, value) : is_less(value, best)))) {
        best = value;
        found = true;
      }
    });
    return best;
  }
};

using PickSmallest = PickExtreme<false>;
using PickLargest = PickExtreme<true>;

// The most frequent value; of several, the one that reaches its count first in reading order.
struct PickMostFrequent {
  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T pick(RankWindow<T> const& window, T nothing) noexcept {
    std::uint64_t best_count = 0, place = 0;
    T best = nothing;
    window.for_each([&](T value) {
      ++place;
      std::uint64_t count = 0, other_place = 0;
      window.for_each([&](T other) { count += ++other_place <= place && is_same(other, value) ? 1U : 0U; });
      if (count > best_count) {
        best = value;
        best_count = count;
      }
    });
    return best;
  }
};

struct PickMiddle {
  // Windows of the usual ratios are sorted in a local array; larger ones are searched by bisecting the range of keys.
  static constexpr std::uint32_t kSorted = 9;

  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T pick(RankWindow<T> const& window, T nothing) noexcept {
    if (std::uint64_t{window.x.size()} * window.y.size() <= kSorted) { return of_sorted(window, nothing); }
    using Key = OrderKey<T>;
    std::uint64_t count = 0;
    Key low = std::numeric_limits<Key>::max(), high = 0;
    window.for_each([&](T value) {
      if (!is_number(value)) { return; }
      Key const key = order_key(value);
      low = key < low ? key : low;
      high = key > high ? key : high;
      ++count;
    });
    if (count == 0) { return nothing; }
    std::uint64_t const half = count / 2;  // number of keys before the median
    while (low < high) {
      Key const middle = static_cast<Key>(low + (high - low) / 2);
      std::uint64_t up_to_middle = 0;
      window.for_each([&](T value) { up_to_middle += is_number(value) && order_key(value) <= middle ? 1U : 0U; });
      if (up_to_middle > half) {
        high = middle;
      } else {
        low = static_cast<Key>(middle + 1);
      }
    }
    if (count % 2 != 0) { return value_of_key<T>(low); }
    std::uint64_t below_count = 0;
    Key below = 0;
    window.for_each([&](T value) {
      if (!is_number(value) || order_key(value) >= low) { return; }
      Key const key = order_key(value);
      below = key > below ? key : below;
      ++below_count;
    });
    return mean_of_middle(value_of_key<T>(below_count == half ? below : low), value_of_key<T>(low));
  }

 private:
  template <class T>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static T of_sorted(RankWindow<T> const& window, T nothing) noexcept {
    OrderKey<T> keys[kSorted] = {};
    std::uint32_t count = 0;
    window.for_each([&](T value) {
      if (!is_number(value)) { return; }
      OrderKey<T> const key = order_key(value);
      std::uint32_t place = count++;
      for (; place > 0 && keys[place - 1] > key; --place) { keys[place] = keys[place - 1]; }
      keys[place] = key;
    });
    if (count == 0) { return nothing; }
    T const upper = value_of_key<T>(keys[count / 2]);
    return count % 2 != 0 ? upper : mean_of_middle(value_of_key<T>(keys[count / 2 - 1]), upper);
  }
};

template <class T, class Rule>
struct MakeRanked {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};
  Marker<T> marker{};

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t band, std::uint32_t column, std::uint32_t row) const noexcept {
    AxisWindow const x = covered_pixels(column, task.column_ratio, task.source_width);
    AxisWindow const y = covered_pixels(row, task.row_ratio, task.source_height);
    Validity const kind = task.validity(band, marker.present);
    bool const has_value = marker.present || kind == Validity::mask;
    T const nothing = kind == Validity::alpha ? T{} : has_value ? marker.value : no_number<T>();
    RankWindow<T> const window{x, y, {task.source, band}, {task, kind, band, marker.value}};
    store_sample(task.result, band, column, row, Rule::pick(window, nothing));
  }
};

// The mask of the mode: valid where most source pixels are.
struct MakeMajorityMask {
  static constexpr std::uint32_t kRows = 1;
  ReduceTask task{};

  TERRAZZO_HOST_DEVICE void operator()(std::uint32_t, std::uint32_t column, std::uint32_t row) const noexcept {
    AxisWindow const x = covered_pixels(column, task.column_ratio, task.source_width);
    AxisWindow const y = covered_pixels(row, task.row_ratio, task.source_height);
    BandSamples<std::uint8_t> const mask{task.source_mask, 0};
    std::uint64_t counts[2] = {0, 0}, best_count = 0;
    bool best = false;
    for (std::uint32_t r = y.first; r < y.last; ++r) {
      for (std::uint32_t c = x.first; c < x.last; ++c) {
        bool const valid = mask(c, r) != 0;
        if (++counts[valid ? 1 : 0] > best_count) {
          ++best_count;
          best = valid;
        }
      }
    }
    store_sample<std::uint8_t>(task.result_mask, 0, column, row, best ? 255 : 0);
  }
};

}  // namespace terrazzo::tile
