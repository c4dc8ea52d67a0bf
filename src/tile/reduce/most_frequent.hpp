// SPDX-License-Identifier: Apache-2.0
//
// The mode of many values on the host, by the rule of PickMostFrequent in tile/reduce_rank.hpp: the value that is most
// frequent; of several, the one that reaches its count first in reading order.
#pragma once

#include "tile/reduce/poller.hpp"
#include "tile/reduce_rank.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::tile {

// Equal for values that count as one.
template <class T>
[[nodiscard]] inline OrderKey<T> mode_key(T value) noexcept {
  if (!is_number(value)) { return order_key(no_number<T>()); }
  return order_key(is_same(value, T{}) ? T{} : value);  // zeros of two signs
}

// Keeps its memory from call to call.
template <class T>
class MostFrequentFinder {
 public:
  // More values are counted in a table, or sorted.
  static constexpr std::size_t kCompared = 64;

  // REQUIRES: there is a value.
  [[nodiscard]] T find(std::vector<T> const& values, Poller& poller) {
    if (values.size() <= kCompared) { return values[by_comparing(values)]; }
    if constexpr (sizeof(T) <= 2) {
      return values[by_counting(values, poller)];
    } else {
      return values[by_sorting(values, poller)];
    }
  }

  // Bytes that find() allocates for `count` values.
  [[nodiscard]] static std::uint64_t scratch_bytes(std::uint64_t count) noexcept {
    if (count <= kCompared) { return 0; }
    return sizeof(T) <= 2 ? kKeys * sizeof(std::uint64_t) : count * sizeof(OrderKey<T>) + count / 8;
  }

 private:
  static constexpr std::size_t kKeys = sizeof(T) == 1 ? 1 << 8 : 1 << 16;  // of the types that are counted
  static constexpr std::size_t kPollValues = 1 << 16;

  [[nodiscard]] static std::size_t by_comparing(std::vector<T> const& values) noexcept {
    std::size_t best = 0, best_count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::size_t count = 0;
      for (std::size_t j = 0; j <= i; ++j) { count += is_same(values[j], values[i]) ? 1U : 0U; }
      if (count > best_count) {
        best = i;
        best_count = count;
      }
    }
    return best;
  }

  // Runs f(i) for the places [0, count) and polls in between.
  template <class F>
  static void for_places(std::size_t count, Poller& poller, F const& f) {
    for (std::size_t begin = 0; begin < count; begin += kPollValues) {
      std::size_t const end = std::min(count, begin + kPollValues);
      for (std::size_t i = begin; i < end; ++i) { f(i); }
      poller.spend(end - begin);
    }
  }

  [[nodiscard]] std::size_t by_counting(std::vector<T> const& values, Poller& poller) {
    counts_.resize(kKeys);
    std::size_t best = 0;
    std::uint64_t best_count = 0;
    for_places(values.size(), poller, [&](std::size_t i) {
      std::uint64_t const count = ++counts_[mode_key(values[i])];
      if (count > best_count) {
        best = i;
        best_count = count;
      }
    });
    if (values.size() < kKeys) {
      for (T const value : values) { counts_[mode_key(value)] = 0; }
    } else {
      std::fill(counts_.begin(), counts_.end(), 0);
    }
    return best;
  }

  // A value reaches the highest count where it is last. So the first such place, searched from the end, is the place of
  // the candidate that is found last.
  [[nodiscard]] std::size_t by_sorting(std::vector<T> const& values, Poller& poller) {
    sort_keys(values, poller);
    keep_most_frequent(poller);
    found_.assign(keys_.size(), false);
    std::size_t missing = keys_.size(), best = values.size();
    while (missing > 0) {
      if (--best % kPollValues == 0) { poller.spend(kPollValues); }
      OrderKey<T> const key = mode_key(values[best]);
      auto const at = std::lower_bound(keys_.begin(), keys_.end(), key);
      if (at == keys_.end() || *at != key) { continue; }
      auto&& is_found = found_[static_cast<std::size_t>(at - keys_.begin())];
      missing -= is_found ? 0U : 1U;
      is_found = true;
    }
    return best;
  }

  void sort_keys(std::vector<T> const& values, Poller& poller) {
    keys_.resize(values.size());
    for_places(values.size(), poller, [&](std::size_t i) { keys_[i] = mode_key(values[i]); });
    std::size_t compared = 0;
    std::sort(keys_.begin(), keys_.end(), [&](OrderKey<T> a, OrderKey<T> b) {
      if (++compared % kPollValues == 0) { poller.spend(kPollValues); }
      return a < b;
    });
  }

  // Leaves one of each of the most frequent keys, in order.
  void keep_most_frequent(Poller& poller) {
    std::size_t most = 0, length = 0;
    auto const runs = [&](auto const& at_end) {
      for_places(keys_.size(), poller, [&](std::size_t i) {
        length = i > 0 && keys_[i] == previous_ ? length + 1 : 1;
        previous_ = keys_[i];
        if (i + 1 == keys_.size() || keys_[i + 1] != previous_) { at_end(previous_); }
      });
    };
    runs([&](OrderKey<T>) { most = std::max(most, length); });
    std::size_t kept = 0;
    runs([&](OrderKey<T> key) {
      if (length == most) { keys_[kept++] = key; }  // before the run's own place
    });
    keys_.resize(kept);
  }

  std::vector<std::uint64_t> counts_;
  std::vector<OrderKey<T>> keys_;
  OrderKey<T> previous_{};
  std::vector<bool> found_;
};

}  // namespace terrazzo::tile
