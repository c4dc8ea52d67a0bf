// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/coarsest_step.hpp"

#include "codec/support.hpp"

#include <cmath>
#include <limits>

namespace terrazzo::codec::testing {
namespace {

template <class Float>
double raised(std::vector<Float> const& values, double max_error) {
  return raise_lerc_error<Float>({std::as_bytes(std::span(values)), {}, 1}, max_error);
}

template <class Float>
std::vector<Float> multiples(double step, std::size_t count = 1000) {
  std::vector<Float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<Float>((static_cast<double>(i * 7919 % 5000) - 2500) * step));
  }
  return values;
}

TEST(LercError, IsHalfTheCoarsestStepThatFits) {
  EXPECT_EQ(raised(multiples<float>(1), 0.01), 0.5);
  EXPECT_EQ(raised(multiples<float>(0.5), 0.01), 0.25);
  EXPECT_EQ(raised(multiples<float>(0.1), 0.01), 0.05);
  EXPECT_EQ(raised(multiples<double>(0.05), 0.01), 0.025);
  EXPECT_EQ(raised(multiples<double>(0.01), 0.001), 0.005);
  EXPECT_EQ(raised(multiples<double>(0.0001), 0.00001), 0.00005);
}

TEST(LercError, StaysWhereNoCoarserStepFits) {
  EXPECT_EQ(raised(multiples<float>(0.01F), 0.01), 0.01);
  EXPECT_EQ(raised(multiples<float>(0.037F), 0.01), 0.01);
  EXPECT_EQ(raised(multiples<float>(1), 0.5), 0.5);
  EXPECT_EQ(raised(multiples<float>(1), 7), 7);
}

TEST(LercError, SeesTheOneSampleThatDoesNotFit) {
  for (std::size_t const at : {0U, 1U, 63U, 64U, 500U, 998U, 999U}) {
    std::vector<float> values = multiples<float>(1);
    values[at] += 0.3F;
    EXPECT_EQ(raised(values, 0.01), 0.05) << at;
    values[at] += 0.03F;
    EXPECT_EQ(raised(values, 0.01), 0.01) << at;
  }
}

TEST(LercError, AllowsHalfTheErrorBesidesTheMultiples) {
  std::vector<double> values = multiples<double>(1);
  values[17] += 0.0049;
  EXPECT_EQ(raised(values, 0.01), 0.5);
  values[17] += 0.0002;
  EXPECT_EQ(raised(values, 0.01), 0.01);
}

TEST(LercError, LeavesInvalidPixelsOut) {
  std::vector<float> values = multiples<float>(1);
  Bytes valid(500, std::byte{1});
  values[100] = std::numeric_limits<float>::quiet_NaN();
  values[101] = 0.123F;
  valid[50] = std::byte{0};
  EXPECT_EQ(raise_lerc_error<float>({std::as_bytes(std::span(values)), valid, 2}, 0.01), 0.5);
  values[102] = 0.123F;
  EXPECT_EQ(raise_lerc_error<float>({std::as_bytes(std::span(values)), valid, 2}, 0.01), 0.01);
}

TEST(LercError, TakesLargeNumbersAndInfinities) {
  std::vector<double> values{1e300, -1e300, 4503599627370496.0, 3e15, std::numeric_limits<double>::infinity(), 1};
  EXPECT_EQ(raised(values, 0.01), 0.5);
  values.push_back(1125899906842624.5);
  EXPECT_EQ(raised(values, 0.01), 0.25);
}

}  // namespace
}  // namespace terrazzo::codec::testing
