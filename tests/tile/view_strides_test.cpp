// SPDX-License-Identifier: Apache-2.0
#include "tile/view_strides.hpp"

#include "terrazzo/read.hpp"

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

TEST(ViewStrides, NoneAtAllMeanAPackedView) {
  int memory = 0;
  HostView const packed = with_strides(HostView{&memory, DType::u16, 3, 5, 7});
  EXPECT_EQ(packed.data, &memory);
  EXPECT_EQ(packed.pixel_stride_bytes, 2);
  EXPECT_EQ(packed.row_stride_bytes, 14);
  EXPECT_EQ(packed.band_stride_bytes, 70);
  HostView const repeated = with_strides(HostView{&memory, DType::u16, 3, 5, 7, 0, 2, 0});
  EXPECT_EQ(repeated.row_stride_bytes, 2);
  EXPECT_EQ(repeated.pixel_stride_bytes, 0) << "as it is";
  EXPECT_THROW((void)with_strides(HostView{&memory, DType::f64, 1, 1U << 31, 1U << 31}), Error);
}

TEST(ViewStrides, OneAddressForSeveralSamplesIsRefused) {
  auto const refused = [](HostView const& view) {
    try {
      check_distinct_samples(view);
    } catch (Error const& error) { return error.kind() == ErrorKind::usage; }
    return false;
  };
  EXPECT_FALSE(refused({nullptr, DType::u8, 2, 3, 4, 12, 4, 1}));
  EXPECT_TRUE(refused({nullptr, DType::u8, 2, 3, 4, 0, 4, 1}));
  EXPECT_TRUE(refused({nullptr, DType::u8, 2, 3, 4, 12, 0, 1}));
  EXPECT_TRUE(refused({nullptr, DType::u8, 2, 3, 4, 12, 4, 0}));
  EXPECT_FALSE(refused({nullptr, DType::u8, 1, 1, 1, 0, 0, 0})) << "one sample has one address";
  EXPECT_FALSE(refused({nullptr, DType::u8, 1, 3, 1, 0, 4, 0}));
}

}  // namespace
}  // namespace terrazzo::tile
