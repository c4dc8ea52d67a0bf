// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce_convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace terrazzo::tile {
namespace {

TEST(KernelAxis, HasWeightsThatAddUpToOne) {
  for (Resampling const method :
       {Resampling::bilinear, Resampling::cubic, Resampling::cubic_spline, Resampling::lanczos}) {
    for (auto const& [source, size] :
         {std::pair{100U, 50U}, {101U, 51U}, {101U, 50U}, {53U, 10U}, {7U, 7U}, {1U, 1U}}) {
      KernelAxis const axis(method, source, size, kColumnUnit);
      for (std::uint32_t i = 0; i < size; ++i) {
        ASSERT_GT(axis.count[i], 0U);
        ASSERT_LE(axis.first[i] + axis.count[i], source);
        double sum = 0;
        for (std::uint32_t k = 0; k < axis.count[i]; ++k) { sum += axis.normalised[k * axis.size + i]; }
        EXPECT_NEAR(sum, 1.0, 1e-12);
      }
      EXPECT_EQ(*std::max_element(axis.count.begin(), axis.count.end()), longest_kernel_window(method, source, size));
    }
  }
}

TEST(KernelAxis, HasWindowsThatNeverGoBack) {
  for (Resampling const method :
       {Resampling::bilinear, Resampling::cubic, Resampling::cubic_spline, Resampling::lanczos}) {
    KernelAxis const axis(method, 1'013, 337, kRowUnit);
    for (std::uint32_t i = 1; i < 337; ++i) {
      EXPECT_GE(axis.first[i], axis.first[i - 1]);
      EXPECT_GE(axis.first[i] + axis.count[i], axis.first[i - 1] + axis.count[i - 1]);
    }
  }
}

TEST(FinishFiltered, EndsOvershootsAtTheLimitsOfTheType) {
  EXPECT_EQ(finish_filtered<std::uint8_t>(300, {}), 255);
  EXPECT_EQ(finish_filtered<std::uint8_t>(-3, {}), 0);
  EXPECT_EQ(finish_filtered<float>(1e39, {}), std::numeric_limits<float>::max());
}

TEST(FinishFiltered, EndsOvershootsAtTheUsedBits) {
  ReductionSpec spec{4, 4, 2, 2, DType::u16, 1, Resampling::cubic};
  spec.bits = 10;
  Marker<std::uint16_t> const marker = make_marker<std::uint16_t>(spec);
  EXPECT_EQ(finish_filtered<std::uint16_t>(1033, marker), 1023);
  EXPECT_EQ(finish_filtered<std::uint16_t>(1022, marker), 1022);
  spec.bits = 16;
  EXPECT_EQ(finish_filtered<std::uint16_t>(1033, make_marker<std::uint16_t>(spec)), 1033);
}

TEST(FinishFiltered, NeverGivesTheMarker) {
  Marker<std::uint8_t> const marker{true, 10, avoid_marker<std::uint8_t>(10)};
  EXPECT_EQ(finish_filtered<std::uint8_t>(10.2, marker), 11);
  EXPECT_EQ(finish_filtered<std::uint8_t>(9.2, marker), 9);
}

TEST(FoundPixels, WantHalfOfTheWindowInOnePiece) {
  FoundPixels found;
  for (bool const there : {true, true, false, true, false, true}) { found.add(there); }
  EXPECT_FALSE(found.are_enough(6, true));
  EXPECT_TRUE(found.are_enough(6, false));
  EXPECT_TRUE(found.are_enough(5, true));
}

}  // namespace
}  // namespace terrazzo::tile
