// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/stretch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace terrazzo::ops {
namespace {

std::vector<double> zero_to_hundred() {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) { values.push_back(i); }
  return values;
}

TEST(Stretch, TakesThePercentiles) {
  Stretch const stretch = Stretch::percentiles(zero_to_hundred(), 2, 98);
  EXPECT_EQ(stretch.low(), 2);
  EXPECT_EQ(stretch.high(), 98);
  EXPECT_EQ(stretch(50), 0.5);
}

TEST(Stretch, ZeroAndHundredAreTheExtremes) {
  Stretch const stretch = Stretch::percentiles(zero_to_hundred(), 0, 100);
  EXPECT_EQ(stretch.low(), 0);
  EXPECT_EQ(stretch.high(), 100);
}

TEST(Stretch, IgnoresWhatIsNotFinite) {
  auto values = zero_to_hundred();
  values.push_back(std::nan(""));
  values.push_back(std::numeric_limits<double>::infinity());
  EXPECT_EQ(Stretch::percentiles(values, 0, 100).high(), 100);
}

TEST(Stretch, GammaBrightensTheMiddleAndKeepsTheEnds) {
  Stretch const stretch(0, 100, 2);
  EXPECT_EQ(stretch(0), 0);
  EXPECT_DOUBLE_EQ(stretch(25), 0.5);
  EXPECT_EQ(stretch(100), 1);
  EXPECT_EQ(stretch(200), 1);
}

TEST(Stretch, ClampsAndRounds) {
  Stretch const stretch(0, 255);
  EXPECT_EQ(stretch.byte(-5), 0);
  EXPECT_EQ(stretch.byte(300), 255);
  EXPECT_EQ(stretch.byte(127.4), 127);
}

TEST(Stretch, OfAllDoublesKeepsTheirOrder) {
  Stretch const stretch(-1.7e308, 1.7e308);
  EXPECT_EQ(stretch.byte(-1.7e308), 0);
  EXPECT_EQ(stretch.byte(0), 128);
  EXPECT_EQ(stretch.byte(1.7e308), 255);
}

TEST(Stretch, EqualValuesAreMidGray) {
  Stretch const stretch = Stretch::percentiles(std::vector<double>(9, 4.0), 2, 98);
  EXPECT_EQ(stretch(4), 0.5);
}

TEST(Stretch, NothingAtAllIsZeroToOne) {
  Stretch const stretch = Stretch::percentiles({}, 2, 98);
  EXPECT_EQ(stretch.low(), 0);
  EXPECT_EQ(stretch.high(), 1);
}

}  // namespace
}  // namespace terrazzo::ops
