// SPDX-License-Identifier: Apache-2.0
#include "base/affine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace terrazzo {
namespace {

TEST(LengthOf, IsThatOfHypotButForTheLastBit) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-1000, 1000);
  for (int i = 0; i < 2000; ++i) {
    int const scale = exponent(random);
    double const x = std::ldexp(mantissa(random), scale), y = std::ldexp(mantissa(random), scale + i % 60 - 30);
    double const truth = std::hypot(x, y), length = length_of(x, y);
    EXPECT_LE(std::abs(length - truth), std::nextafter(truth, 2 * truth) - truth) << x << ' ' << y;
  }
}

TEST(LengthOf, IsExactWhereTheResultIs) {
  EXPECT_EQ(length_of(3, 4), 5);
  EXPECT_EQ(length_of(0.3, 0), 0.3);
  EXPECT_EQ(length_of(0, -1e-320), 1e-320);
  EXPECT_EQ(length_of(-3e307, 4e307), 5e307);
  EXPECT_EQ(length_of(std::numeric_limits<double>::infinity(), 1), std::numeric_limits<double>::infinity());
}

TEST(PixelSides, AreTheLengthsOfTheStepsAlongARowAndAColumn) {
  PixelSides const sides = pixel_sides({100, 3, 5, 200, 4, -12});
  EXPECT_EQ(sides.along_row, 5);
  EXPECT_EQ(sides.along_column, 13);
}

TEST(IsInvertible, RefusesTransformsOntoALine) {
  EXPECT_TRUE(is_invertible({0, 1e-200, 0, 0, 0, -1e-200}));
  EXPECT_FALSE(is_invertible({0, 1, 2, 0, 2, 4}));
  EXPECT_FALSE(is_invertible({0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(is_invertible({0, 1, 0, 0, 0, std::numeric_limits<double>::quiet_NaN()}));
}

}  // namespace
}  // namespace terrazzo
