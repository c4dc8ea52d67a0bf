// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce_rank.hpp"

#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace terrazzo::tile {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(ReduceRank, FindsSmallestAndLargestWithoutNodata) {
  Raster<std::int16_t> const source{4, 2, {-9999, 3, -9999, -9999, -7, 5, -9999, -9999}, {}};
  Nodata const nodata{.value = -9999};
  auto const least = reduced(source, {.width = 2, .height = 1, .method = Resampling::minimum, .nodata = nodata});
  auto const most = reduced(source, {.width = 2, .height = 1, .method = Resampling::maximum, .nodata = nodata});
  EXPECT_EQ(least.pixels, (std::vector<std::int16_t>{-7, -9999}));
  EXPECT_EQ(most.pixels, (std::vector<std::int16_t>{5, -9999}));
}

TEST(ReduceRank, LeavesNaNOutEvenWithoutNodata) {
  Raster<float> const source{4, 2, {kNaN, 2, kNaN, kNaN, 4, kNaN, kNaN, kNaN}, {}};
  for (auto const& [method, expected] :
       {std::pair{Resampling::minimum, 2.0F}, {Resampling::maximum, 4.0F}, {Resampling::median, 3.0F}}) {
    auto const result = reduced(source, {.width = 2, .height = 1, .method = method});
    EXPECT_EQ(result.pixels[0], expected);
    EXPECT_TRUE(std::isnan(result.pixels[1]));
  }
}

TEST(ReduceRank, KnowsInfinitiesFromNothing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Raster<float> const source{2, 2, {kInfinity, kNaN, kInfinity, kInfinity}, {}};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::minimum}).pixels[0], kInfinity);
}

TEST(ReduceRank, GivesTheSameByVectorsAsByPixels) {
  // A mask that allows everything takes the other way through the code.
  auto source = scrambled<std::uint16_t>(66, 10);
  for (Resampling const method : {Resampling::minimum, Resampling::maximum}) {
    ReduceTo const to{.width = 33, .height = 5, .method = method, .nodata = Nodata{.value = 65000}};
    auto const fast = reduced(source, to);
    auto masked = source;
    for (std::uint16_t const pixel : source.pixels) { masked.mask.push_back(pixel == 65000 ? 0 : 255); }
    EXPECT_EQ(fast.pixels, reduced(masked, to).pixels);
  }
}

TEST(ReduceRank, TakesTheMeanOfTheMiddleTwo) {
  Raster<std::uint8_t> const source{2, 2, {9, 1, 4, 3}, {}};
  EXPECT_EQ(reduced(source, {.width = 1, .height = 1, .method = Resampling::median}).pixels[0], 4);
  Raster<std::int64_t> const large{2, 1, {(std::int64_t{1} << 60) + 1, (std::int64_t{1} << 60) + 3}, {}};
  EXPECT_EQ(reduced(large, {.width = 1, .height = 1, .method = Resampling::median}).pixels[0],
            (std::int64_t{1} << 60) + 2);
}

TEST(ReduceRank, TakesTheFirstOfTheMostFrequent) {
  Raster<std::uint8_t> const source{4, 2, {1, 2, 7, 8, 2, 3, 8, 7}, {}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1, .method = Resampling::mode}).pixels,
            (std::vector<std::uint8_t>{2, 8}));
}

// The definition, in time that grows with the square of the number of pixels.
template <class T>
T mode_by_comparing(std::vector<T> const& values) {
  std::size_t best = 0, best_count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t count = 0;
    for (std::size_t j = 0; j <= i; ++j) { count += is_same(values[j], values[i]) ? 1U : 0U; }
    if (count > best_count) {
      best = i;
      best_count = count;
    }
  }
  return values[best];
}

template <class T>
void expect_the_mode_of_its_definition() {
  for (std::uint32_t const kinds : {1U, 2U, 3U, 30U, 700U}) {
    for (std::uint32_t const width : {3U, 8U, 9U, 31U, 40U}) {
      Raster<T> source = scrambled<T>(width, 17);
      std::uint32_t state = kinds + width;
      for (T& pixel : source.pixels) {
        state = state * 1664525U + 1013904223U;
        std::uint32_t const kind = (state >> 16) % kinds;
        pixel = static_cast<T>(static_cast<int>(kind) - 1);
        if constexpr (std::is_floating_point_v<T>) {
          if (kind == 1 && (state & 0x8000U) != 0) { pixel = T{-0.0}; }
          if (kind == 2) { pixel = std::numeric_limits<T>::quiet_NaN(); }
        }
      }
      T const found = reduced(source, {.width = 1, .height = 1, .method = Resampling::mode}).pixels[0];
      T const wanted = mode_by_comparing(source.pixels);
      EXPECT_EQ(std::memcmp(&found, &wanted, sizeof(T)), 0) << found << " is not " << wanted;
    }
  }
}

TEST(ReduceRank, FindsTheModeOfManyPixelsByTheSameRule) {
  expect_the_mode_of_its_definition<std::uint8_t>();
  expect_the_mode_of_its_definition<std::int16_t>();
  expect_the_mode_of_its_definition<std::uint16_t>();
  expect_the_mode_of_its_definition<std::int32_t>();
  expect_the_mode_of_its_definition<std::int64_t>();
  expect_the_mode_of_its_definition<float>();
  expect_the_mode_of_its_definition<double>();
}

// By comparing each pixel with each, these would take hours.
TEST(ReduceRank, FindsTheModeOfMillionsOfPixels) {
  constexpr std::uint32_t kSize = 2000;
  Raster<std::uint8_t> bytes = scrambled<std::uint8_t>(kSize, kSize);
  std::fill(bytes.pixels.end() - 100'000, bytes.pixels.end(), std::uint8_t{77});
  EXPECT_EQ(reduced(bytes, {.width = 1, .height = 1, .method = Resampling::mode}).pixels[0], 77);
  Raster<float> floats = scrambled<float>(kSize, kSize);
  for (std::size_t i = 0; i < floats.pixels.size(); i += 2) { floats.pixels[i] = -1e9F; }
  EXPECT_EQ(reduced(floats, {.width = 1, .height = 1, .method = Resampling::mode}).pixels[0], -1e9F);
}

TEST(ReduceRank, AsksWithinARowWhetherToGoOn) {
  constexpr std::uint32_t kSize = 2000;
  auto source = scrambled<float>(kSize, kSize);
  std::vector<float> result(1);
  ReductionSpec const spec{kSize, kSize, 1, 1, DType::f32, 1, Resampling::mode};
  HostRows const in{0, rows_of(source.pixels, DType::f32, kSize, 0, kSize), {}};
  HostRows const out{0, rows_of(result, DType::f32, 1, 0, 1), {}};
  int polls = 0;
  struct Stopped {};
  EXPECT_THROW(Reduction(spec).reduce(in, out,
                                      [&] {
                                        if (++polls == 20) { throw Stopped{}; }
                                      }),
               Stopped);
  EXPECT_EQ(polls, 20);
}

TEST(ReduceRank, MasksByMajorityInMode) {
  Raster<std::uint8_t> const source{4, 2, {1, 1, 1, 1, 1, 1, 1, 1}, {255, 0, 255, 0, 0, 0, 255, 255}};
  EXPECT_EQ(reduced(source, {.width = 2, .height = 1, .method = Resampling::mode}).mask,
            (std::vector<std::uint8_t>{0, 255}));
}

}  // namespace
}  // namespace terrazzo::tile
