// SPDX-License-Identifier: Apache-2.0
#include "tile/view_strides.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tile {
namespace {

struct View {
  std::int64_t pixel_stride_bytes, band_stride_bytes;
};

TEST(ViewStrides, PixelsLieTogetherWhenNothingIsBetweenTheirSamples) {
  EXPECT_TRUE(has_pixels_together(View{6, 2}, 3, 2));
  EXPECT_FALSE(has_pixels_together(View{8, 2}, 3, 2)) << "a gap behind every pixel";
  EXPECT_FALSE(has_pixels_together(View{6, 4}, 3, 2)) << "a gap behind every sample";
  EXPECT_FALSE(has_pixels_together(View{2, 800}, 3, 2)) << "bands apart";
  EXPECT_FALSE(has_pixels_together(View{6, -2}, 3, 2)) << "bands from the last to the first";
  EXPECT_FALSE(has_pixels_together(View{-6, 2}, 3, 2)) << "columns from the last to the first";
}

TEST(ViewStrides, OneBandMayBeAnywhere) {
  for (std::int64_t const band_stride : {0, 4, -4, 4000}) {
    EXPECT_TRUE(has_pixels_together(View{4, band_stride}, 1, 4)) << band_stride;
    EXPECT_FALSE(has_pixels_together(View{8, band_stride}, 1, 4)) << band_stride;
  }
}

}  // namespace
}  // namespace terrazzo::tile
