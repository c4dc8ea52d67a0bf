// SPDX-License-Identifier: Apache-2.0
#include "base/float_nodata.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace terrazzo {
namespace {

// What GDAL 3.12 masks, by its masks of files with such pixels.
TEST(FloatNodata, OverlooksDigitsThatAreMissing) {
  EXPECT_TRUE(is_float_nodata(-9999.0F, -9999.0F));
  EXPECT_TRUE(is_float_nodata(std::nextafter(-9999.0F, 0.0F), -9999.0F));
  EXPECT_TRUE(is_float_nodata(-9999.002F, -9999.0F));
  EXPECT_FALSE(is_float_nodata(-9999.01F, -9999.0F));
  EXPECT_TRUE(is_float_nodata(-9999.001, -9999.0));
  EXPECT_FALSE(is_float_nodata(-9999.01, -9999.0));
  EXPECT_TRUE(is_float_nodata(static_cast<double>(0.1F), 0.1));
  EXPECT_FALSE(is_float_nodata(0.1000001, 0.1));
}

TEST(FloatNodata, TakesAllThatIsNearTheLargestFloat) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  EXPECT_TRUE(is_float_nodata(-3.40282306e38F, kLowest));
  EXPECT_TRUE(is_float_nodata(-3.4028e38F, kLowest));
  EXPECT_FALSE(is_float_nodata(1.0F, kLowest));
  EXPECT_FALSE(is_float_nodata(-kLowest, kLowest));
}

TEST(FloatNodata, KeepsToZeroInfinityAndNan) {
  EXPECT_TRUE(is_float_nodata(-0.0F, 0.0F));
  EXPECT_FALSE(is_float_nodata(1e-30F, 0.0F));
  EXPECT_TRUE(is_float_nodata(INFINITY, INFINITY));
  EXPECT_FALSE(is_float_nodata(1e38F, INFINITY));
  EXPECT_FALSE(is_float_nodata(NAN, NAN));
  EXPECT_FALSE(is_float_nodata(NAN, 0.0F));
}

}  // namespace
}  // namespace terrazzo
