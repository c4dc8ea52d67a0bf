// SPDX-License-Identifier: Apache-2.0
#include "ops/stats/accumulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

namespace terrazzo::ops {
namespace {

template <class T>
BandRows rows_of(std::vector<T> const& samples, std::uint32_t columns,
                 std::vector<std::uint8_t> const* mask = nullptr) {
  return {samples.data(), mask == nullptr ? nullptr : mask->data(),
          static_cast<std::uint32_t>(samples.size() / columns), columns};
}

BandStats summary(Accumulator const& accumulator) {
  BandStats stats;
  accumulator.summarise(stats);
  return stats;
}

TEST(Accumulator, CountsBytesAndSkipsNodata) {
  Nodata const nodata{.value = 7};
  auto const accumulator = make_accumulator(DType::u8, &nodata, true);
  std::vector<std::uint8_t> const samples{7, 0, 255, 7, 1, 2};
  accumulator->add(rows_of(samples, 3), 2);
  BandStats const stats = summary(*accumulator);
  EXPECT_EQ(stats.valid, 4U);
  EXPECT_EQ(stats.minimum, 0);
  EXPECT_EQ(stats.maximum, 255);
  EXPECT_EQ(stats.mean, 64.5);
}

TEST(Accumulator, CountingAndSummingAgree) {
  std::vector<std::int16_t> samples;
  for (int i = 0; i < 1000; ++i) { samples.push_back(static_cast<std::int16_t>(i * 37 % 65536 - 20'000)); }
  Nodata const nodata{.value = -20'000};
  auto const counted = make_accumulator(DType::i16, &nodata, true);
  auto const summed = make_accumulator(DType::i16, &nodata, false);
  for (auto* accumulator : {counted.get(), summed.get()}) {
    accumulator->add(rows_of(samples, 10), 3);
    accumulator->begin_histogram({-20'000, 17'000, 9});
    accumulator->add_histogram(rows_of(samples, 10), 3);
  }
  EXPECT_EQ(summary(*counted).mean, summary(*summed).mean);
  EXPECT_EQ(summary(*counted).stddev, summary(*summed).stddev);
  EXPECT_EQ(summary(*counted).valid, 999U);
  EXPECT_EQ(counted->histogram(), summed->histogram());
}

TEST(Accumulator, MaskDecidesWhatCounts) {
  std::vector<float> const samples{1, 100, 3, 100};
  std::vector<std::uint8_t> const mask{255, 0, 255, 0};
  auto const accumulator = make_accumulator(DType::f32, nullptr, false);
  accumulator->add(rows_of(samples, 4, &mask), 1);
  EXPECT_EQ(summary(*accumulator).valid, 2U);
  EXPECT_EQ(summary(*accumulator).mean, 2);
  std::vector<std::uint16_t> const words{1, 100, 3, 100};
  auto const counting = make_accumulator(DType::u16, nullptr, true);
  counting->add(rows_of(words, 4, &mask), 1);
  EXPECT_EQ(summary(*counting).maximum, 3);
}

TEST(Accumulator, FloatsDoNotDependOnThreadsNorBlocks) {
  std::vector<float> samples;
  for (int i = 0; i < 64 * 1000; ++i) { samples.push_back(static_cast<float>(std::sin(i * 0.7) * 1e6)); }
  auto const one = make_accumulator(DType::f32, nullptr, false);
  one->add(rows_of(samples, 1000), 1);
  auto const many = make_accumulator(DType::f32, nullptr, false);
  std::vector<float> const top(samples.begin(), samples.begin() + 17 * 1000);
  std::vector<float> const rest(samples.begin() + 17 * 1000, samples.end());
  many->add(rows_of(top, 1000), 7);
  many->add(rows_of(rest, 1000), 3);
  EXPECT_EQ(summary(*one).mean, summary(*many).mean);      // to the last bit
  EXPECT_EQ(summary(*one).stddev, summary(*many).stddev);
}

TEST(Accumulator, NanNeverCountsAndInfinityLeavesTheHistogramFinite) {
  float const inf = std::numeric_limits<float>::infinity();
  std::vector<float> const samples{std::nanf(""), 1, 5, inf};
  auto const accumulator = make_accumulator(DType::f32, nullptr, false);
  accumulator->add(rows_of(samples, 2), 1);
  EXPECT_EQ(summary(*accumulator).valid, 3U);
  EXPECT_EQ(summary(*accumulator).maximum, inf);
  EXPECT_EQ(accumulator->value_range()->low, 1);
  EXPECT_EQ(accumulator->value_range()->high, 5);
}

TEST(Accumulator, NodataOfFloatsIsComparedAsFloats) {
  Nodata const nodata{.value = -3.4028234663852886e38};
  std::vector<float> const samples{std::numeric_limits<float>::lowest(), 2};
  auto const accumulator = make_accumulator(DType::f32, &nodata, false);
  accumulator->add(rows_of(samples, 2), 1);
  EXPECT_EQ(summary(*accumulator).valid, 1U);
  Nodata const tenth{.value = 0.1};
  std::vector<float> const tenths{0.1F, 2};
  auto const other = make_accumulator(DType::f32, &tenth, false);
  other->add(rows_of(tenths, 2), 1);
  EXPECT_EQ(summary(*other).valid, 1U);
}

TEST(Accumulator, NodataNoSampleCanEqualIsIgnored) {
  Nodata const out_of_range{.value = -9999};
  std::vector<std::uint8_t> const samples{241, 2};  // -9999 modulo 256 is 241
  auto const accumulator = make_accumulator(DType::u8, &out_of_range, true);
  accumulator->add(rows_of(samples, 2), 1);
  EXPECT_EQ(summary(*accumulator).valid, 2U);
}

TEST(Accumulator, SixtyFourBitNodataIsExact) {
  std::int64_t const marker = (std::int64_t{1} << 60) + 1;  // no double
  Nodata nodata{.value = static_cast<double>(marker)};
  nodata.exact_i64 = marker;
  std::vector<std::int64_t> const samples{marker, marker - 1};
  auto const accumulator = make_accumulator(DType::i64, &nodata, false);
  accumulator->add(rows_of(samples, 2), 1);
  EXPECT_EQ(summary(*accumulator).valid, 1U);
}

TEST(Accumulator, MagnitudeOfComplexNumbersCounts) {
  std::vector<std::complex<double>> const samples{{3, 4}, {0, -1}};
  auto const accumulator = make_accumulator(DType::cf64, nullptr, false);
  accumulator->add(rows_of(samples, 2), 1);
  EXPECT_EQ(summary(*accumulator).maximum, 5);
  EXPECT_EQ(summary(*accumulator).mean, 3);
}

TEST(Accumulator, LastBinHoldsTheMaximumAndOutsideIsNotCounted) {
  std::vector<double> const samples{-1, 0, 1, 2, 3, 4, 5};
  auto const accumulator = make_accumulator(DType::f64, nullptr, false);
  accumulator->begin_histogram({0, 4, 4});
  accumulator->add_histogram(rows_of(samples, 7), 1);
  EXPECT_EQ(accumulator->histogram(), (std::vector<std::uint64_t>{1, 1, 1, 2}));
}

TEST(Accumulator, EqualValuesFallIntoTheFirstBin) {
  std::vector<std::int32_t> const samples{5, 5, 5};
  auto const accumulator = make_accumulator(DType::i32, nullptr, false);
  accumulator->begin_histogram({5, 5, 3});
  accumulator->add_histogram(rows_of(samples, 3), 1);
  EXPECT_EQ(accumulator->histogram(), (std::vector<std::uint64_t>{3, 0, 0}));
}

std::vector<std::uint64_t> histogram_of(std::vector<double> const& samples, HistogramRange const& range) {
  auto const accumulator = make_accumulator(DType::f64, nullptr, false);
  accumulator->begin_histogram(range);
  accumulator->add_histogram(rows_of(samples, static_cast<std::uint32_t>(samples.size())), 1);
  return accumulator->histogram();
}

TEST(Accumulator, EdgesBelongToTheBinTheyBegin) {
  // Edges are integers or halfway between two, and so exact.
  for (std::uint32_t bins = 1; bins <= 100; ++bins) {
    for (std::uint32_t doubled_step = 1; doubled_step <= 60; ++doubled_step) {
      std::vector<double> edges;
      std::vector<std::uint64_t> expected(bins, 1);
      for (std::uint32_t i = 0; i <= bins; ++i) { edges.push_back(1 + i * doubled_step / 2.0); }
      expected.back() = 2;
      EXPECT_EQ(histogram_of(edges, {edges.front(), edges.back(), bins}), expected) << bins << ' ' << doubled_step;
    }
  }
}

TEST(Accumulator, CountedIntegersOnEdgesBelongToTheBinTheyBegin) {
  std::vector<std::uint8_t> samples(197);
  std::iota(samples.begin(), samples.end(), std::uint8_t{1});
  auto const accumulator = make_accumulator(DType::u8, nullptr, true);
  accumulator->add(rows_of(samples, 197), 1);
  accumulator->begin_histogram({1, 197, 8});  // edges: 1, 25.5, 50, 74.5, 99, ...
  EXPECT_EQ(accumulator->histogram(), (std::vector<std::uint64_t>{25, 24, 25, 24, 25, 24, 25, 25}));
}

TEST(Accumulator, EdgesThatAreNotExactAreRoundedOnce) {
  // 3 * 0.1 is above 0.3, so 0.3 is in the bin before: as in numpy.histogram.
  EXPECT_EQ(histogram_of({0.3, 3 * 0.1, 0.6, 6 * 0.1, 0.7}, {0, 1, 10}),
            (std::vector<std::uint64_t>{0, 0, 1, 1, 0, 1, 2, 0, 0, 0}));
}

TEST(Accumulator, RangesWiderThanTheLargestNumberHaveBinsToo) {
  EXPECT_EQ(histogram_of({-1.7e308, -0.85e308, -1, 0, 1, 0.85e308, 1.7e308}, {-1.7e308, 1.7e308, 4}),
            (std::vector<std::uint64_t>{1, 2, 2, 2}));
  double const most = std::numeric_limits<double>::max();
  EXPECT_EQ(histogram_of({-most, 0, most}, {-most, most, 1}), (std::vector<std::uint64_t>{3}));
}

TEST(Accumulator, RangesOfTheSmallestNumbersHaveBinsToo) {
  double const least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(histogram_of({0, least, least, least}, {0, least, 4}), (std::vector<std::uint64_t>{1, 0, 0, 3}));
  EXPECT_EQ(histogram_of({-2 * least, -least, 0, least, 2 * least}, {-2 * least, 2 * least, 4}),
            (std::vector<std::uint64_t>{1, 1, 1, 2}));
}

TEST(Accumulator, MoreBinsThanNumbersInTheRangeLeaveSomeEmpty) {
  // Doubles are 16 apart here, edges 4.
  EXPECT_EQ(histogram_of({1e17, 1e17 + 16, 1e17 + 32}, {1e17, 1e17 + 32, 8}),
            (std::vector<std::uint64_t>{1, 0, 0, 0, 1, 0, 0, 1}));
}

TEST(Accumulator, RefusesTypesThatMustBeWidenedFirst) {
  EXPECT_THROW((void)make_accumulator(DType::f16, nullptr, false), Error);
}

}  // namespace
}  // namespace terrazzo::ops
