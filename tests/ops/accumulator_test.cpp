// SPDX-License-Identifier: Apache-2.0
#include "ops/accumulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

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

TEST(Accumulator, RefusesTypesThatMustBeWidenedFirst) {
  EXPECT_THROW((void)make_accumulator(DType::f16, nullptr, false), Error);
}

}  // namespace
}  // namespace terrazzo::ops
