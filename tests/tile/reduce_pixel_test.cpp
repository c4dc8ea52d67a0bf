// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce_pixel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::tile {
namespace {

TEST(CoveredPixels, AreWholePairsWhenTheSizeIsHalved) {
  for (std::uint32_t i = 0; i < 500; ++i) {
    AxisWindow const window = covered_pixels(i, 2.0, 1000);
    EXPECT_EQ(window.first, 2 * i);
    EXPECT_EQ(window.last, 2 * i + 2);
    EXPECT_EQ(window.first_weight, 1.0);
    EXPECT_EQ(window.last_weight, 1.0);
    EXPECT_EQ(window.total_weight, 2.0);
  }
}

TEST(CoveredPixels, ShareTheSourceOutAtOddSizes) {
  // Whatever the sizes, every source pixel is handed out once in all.
  for (auto const& [source, size] :
       {std::pair{3U, 2U}, {1025U, 513U}, {1025U, 512U}, {7U, 3U}, {5U, 5U}, {101U, 13U}}) {
    double const ratio = static_cast<double>(source) / size;
    double all = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      AxisWindow const window = covered_pixels(i, ratio, source);
      EXPECT_LE(window.last, source);
      EXPECT_NEAR(window.total_weight, ratio, 1e-9);
      double sum = 0;
      for (std::uint32_t p = window.first; p < window.last; ++p) { sum += window.weight(p); }
      EXPECT_NEAR(sum, window.total_weight, 1e-12);
      all += window.total_weight;
    }
    EXPECT_NEAR(all, source, 1e-6);
  }
}

TEST(CoveredPixels, HaveOnePixelOfWeightOneWhereNothingIsReduced) {
  AxisWindow const window = covered_pixels(4, 1.0, 5);
  EXPECT_EQ(window.first, 4U);
  EXPECT_EQ(window.last, 5U);
  EXPECT_EQ(window.total_weight, 1.0);
}

TEST(RoundedPixels, EndWithTheSource) {
  AxisWindow const window = rounded_pixels(2, 7.0 / 3, 7, true);
  EXPECT_EQ(window.first, 5U);
  EXPECT_EQ(window.last, 7U);
}

TEST(IsMarker, ComparesIntegersExactly) {
  EXPECT_TRUE(is_marker<std::int64_t>(std::int64_t{1} << 60, std::int64_t{1} << 60));
  EXPECT_FALSE(is_marker<std::int64_t>((std::int64_t{1} << 60) + 1, std::int64_t{1} << 60));
}

TEST(IsMarker, ForgivesFloatsThatLostDigits) {
  EXPECT_TRUE(is_marker(-3.402823e38F, -3.4028231e38F));
  EXPECT_TRUE(is_marker(0.1, static_cast<double>(0.1F)));
  EXPECT_FALSE(is_marker(-9999.0F, -9998.9F));
  EXPECT_FALSE(is_marker(0.0F, 1e-30F));
}

TEST(IsMarker, KnowsNaNAndInfinity) {
  float const nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(is_marker(nan, nan));
  EXPECT_FALSE(is_marker(1.0F, nan));
  EXPECT_TRUE(is_marker(nan, 1.0F));  // the writer turns NaN into the marker
  EXPECT_TRUE(is_marker(infinity, infinity));
  EXPECT_FALSE(is_marker(1.0F, infinity));
  EXPECT_FALSE(is_marker(-infinity, infinity));
}

TEST(AvoidMarker, StepsUpExceptFromTheLargest) {
  EXPECT_EQ(avoid_marker<std::uint8_t>(0).instead, 1);
  EXPECT_EQ(avoid_marker<std::uint8_t>(255).instead, 254);
  EXPECT_EQ(avoid_marker<std::int16_t>(-32768).instead, -32767.0F);
  EXPECT_EQ(avoid_marker(1.0F).instead, std::nextafter(1.0F, 2.0F));
  EXPECT_EQ(avoid_marker(std::numeric_limits<double>::max()).instead,
            std::nextafter(std::numeric_limits<double>::max(), 0.0));
  EXPECT_EQ(avoid_marker(Half{0x3C00}).instead, 1.0 + 1.0 / 1024);   // 1
  EXPECT_EQ(avoid_marker(Half{0xBC00}).instead, -1.0 + 1.0 / 2048);  // -1
  EXPECT_EQ(avoid_marker(Half{0x7BFF}).instead, 65472.0);            // the largest
  EXPECT_EQ(avoid_marker(std::numeric_limits<std::int64_t>::max()).instead, 0x1p63 - 1024);
}

TEST(RoundedTo, RoundsADoubleToAHalfOnce) {
  // Just above half way between 1 and the next half: as a float it is exactly half way, which would round to even.
  double const value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ((rounded_to<Half, double>(value).bits), 0x3C01);
  EXPECT_EQ((rounded_to<Half, double>(-value).bits), 0xBC01);
  EXPECT_EQ((rounded_to<Half, double>(1 + 0x1p-11).bits), 0x3C00);
  EXPECT_EQ((rounded_to<Half, double>(1 + 0x1p-11 - 0x1p-40).bits), 0x3C00);
  EXPECT_EQ((rounded_to<Half, double>(1e300).bits), 0x7C00);
}

TEST(RoundedTo, GivesThePlainNaNWhateverTheSign) {
  float const nan = std::copysign(std::nanf("7"), -1.0F);
  EXPECT_EQ(bits_of_float(rounded_to<float>(nan)), 0x7FC00000U);
}

TEST(KernelWindowOfAPart, IsThatOfAPartAtAnotherPixel) {
  // 101 pixels become 75: the kernel of pixel 40 ends on the middle of a pixel, which sums of another size would miss.
  AxisMap here{101.0 / 75};
  AxisMap there = here;
  there.shift = 13;
  there.origin = 13;
  for (std::uint32_t i = 0; i < 75; ++i) {
    KernelWindow const a = kernel_window(i, here, 3, 101), b = kernel_window(i, there, 3, 101);
    EXPECT_EQ(a.first, b.first) << i;
    EXPECT_EQ(a.last, b.last) << i;
    EXPECT_EQ(a.start, b.start) << i;
  }
  EXPECT_EQ(kernel_window(40, there, 3, 101).first, 51U);
}

TEST(KernelWindowOfAPart, BeginsWithItsOrigin) {
  // The source begins four pixels before the part and ends with it.
  AxisMap map{2};
  map.shift = 10;
  map.origin = 6;
  KernelWindow const first = kernel_window(0, map, 2, 14), last = kernel_window(4, map, 2, 14);
  EXPECT_EQ(first.first, 1U);  // pixels 7 to 14 of the level, around 11
  EXPECT_EQ(first.last, 9U);
  EXPECT_EQ(first.start, 0.5 * (7 - 11 + 0.5));
  EXPECT_EQ(last.first, 9U);
  EXPECT_EQ(last.last, 14U) << "cut at the end of the source";
}

}  // namespace
}  // namespace terrazzo::tile
