// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

template <class T>
void expect_keys_in_order(std::vector<T> const& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T const back = value_of_key<T>(order_key(values[i]));
    EXPECT_EQ(std::memcmp(&back, &values[i], sizeof(T)), 0) << i;
    if (i > 0) { EXPECT_LT(order_key(values[i - 1]), order_key(values[i])) << i; }
  }
}

TEST(OrderKey, GrowsWithTheValue) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  expect_keys_in_order<float>({-kInfinity, -1e30F, -1, -1e-44F, -0.0F, 0, 1e-44F, 1, 1e30F, kInfinity});
  expect_keys_in_order<double>({-1e300, -1, -0.0, 0, 5e-324, 1, 1e300});
  expect_keys_in_order<Half>({{0xFC00}, {0xBC00}, {0x8001}, {0x8000}, {0x0000}, {0x0001}, {0x3C00}, {0x7C00}});
  expect_keys_in_order<std::int8_t>({-128, -1, 0, 1, 127});
  expect_keys_in_order<std::uint8_t>({0, 1, 127, 128, 255});
  expect_keys_in_order<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -1, 0, 1});
}

TEST(MeanOfMiddle, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(mean_of_middle<std::int64_t>(1, 2), 2);
  EXPECT_EQ(mean_of_middle<std::int64_t>(-2, -1), -2);
  EXPECT_EQ(mean_of_middle<std::int64_t>(-1, 2), 1);
  EXPECT_EQ(mean_of_middle<std::int64_t>(-2, 1), -1);
  EXPECT_EQ(mean_of_middle<std::int16_t>(-2, 1), -1);
}

TEST(MeanOfMiddle, DoesNotOverflow) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(mean_of_middle<std::int64_t>(kLow, kHigh), -1);
  EXPECT_EQ(mean_of_middle<std::int64_t>(kHigh, kHigh), kHigh);
  constexpr auto kTop = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(mean_of_middle<std::uint64_t>(kTop - 2, kTop), kTop - 1);
}

// One result pixel that covers a whole raster of one row.
template <class T, class Rule>
T picked(std::vector<T> values, Marker<T> const& marker = {}) {
  T result{};
  MakeRanked<T, Rule> maker;
  auto const width = static_cast<std::uint32_t>(values.size());
  maker.task = reduce_task({width, 1, 1, 1});
  constexpr auto kSample = static_cast<std::int64_t>(sizeof(T));
  maker.task.source = {reinterpret_cast<std::byte*>(values.data()), 0, width * kSample, kSample, 0};
  maker.task.result = {reinterpret_cast<std::byte*>(&result), 0, kSample, kSample, 0};
  maker.marker = marker;
  maker(0, 0, 0);
  return result;
}

TEST(PickMiddle, FindsItInWindowsOfAnySize) {
  std::mt19937 engine(1);
  for (std::uint32_t size = 1; size <= 2 * PickMiddle::kSorted + 3; ++size) {
    for (int i = 0; i < 50; ++i) {
      std::vector<std::int32_t> values(size);
      for (std::int32_t& value : values) { value = static_cast<std::int32_t>(engine() % (i < 25 ? 5 : 1'000'000)) - 2; }
      std::vector<std::int32_t> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      std::int32_t const upper = sorted[size / 2];
      std::int32_t const expected = size % 2 != 0 ? upper : mean_of_middle(sorted[size / 2 - 1], upper);
      EXPECT_EQ((picked<std::int32_t, PickMiddle>(values)), expected) << size;
    }
  }
}

TEST(PickMiddle, KnowsZerosOfTwoSigns) {
  EXPECT_TRUE(std::signbit(picked<float, PickMiddle>({0.0F, -0.0F, -0.0F})));
  EXPECT_FALSE(std::signbit(picked<float, PickMiddle>({0.0F, -0.0F, 0.0F})));
}

TEST(PickExtremes, TakeTheFirstOfEquals) {
  EXPECT_TRUE(std::signbit(picked<float, PickSmallest>({1.0F, -0.0F, 0.0F})));
  EXPECT_FALSE(std::signbit(picked<float, PickSmallest>({1.0F, 0.0F, -0.0F})));
  EXPECT_FALSE(std::signbit(picked<float, PickLargest>({-1.0F, 0.0F, -0.0F})));
}

TEST(PickMostFrequent, TakesTheFirstThatIsCountedSoOften) {
  EXPECT_EQ((picked<std::uint8_t, PickMostFrequent>({1, 2, 3, 3, 2, 1})), 3);
  EXPECT_EQ((picked<std::uint8_t, PickMostFrequent>({1, 2, 3, 3, 2, 1, 1})), 1);
}

TEST(PickRules, SayWhatNothingIs) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(picked<float, PickSmallest>({kNaN, kNaN})));
  Marker<std::uint8_t> const marker{true, 7, avoid_marker<std::uint8_t>(7)};
  EXPECT_EQ((picked<std::uint8_t, PickMiddle>({7, 7}, marker)), 7);
}

TEST(MakeRanked, MakesTransparentWindowsZeroNotTheMarker) {
  std::vector<std::int16_t> pixels{10, 0, 10, 0};  // grey and alpha, side by side
  std::vector<std::int16_t> result(2, -1);
  ReductionSpec spec{2, 1, 1, 1, DType::i16, 2, Resampling::mode};
  spec.alpha_band = 1;
  spec.alpha_masks_others = false;
  MakeRanked<std::int16_t, PickMostFrequent> maker;
  maker.task = reduce_task(spec);
  maker.task.source = {reinterpret_cast<std::byte*>(pixels.data()), 2, 8, 4, 0};
  maker.task.result = {reinterpret_cast<std::byte*>(result.data()), 2, 4, 4, 0};
  maker.marker = {true, -999, avoid_marker<std::int16_t>(-999)};
  maker(0, 0, 0);
  maker(1, 0, 0);
  EXPECT_EQ(result, (std::vector<std::int16_t>{10, 0}));
}

}  // namespace
}  // namespace terrazzo::tile
