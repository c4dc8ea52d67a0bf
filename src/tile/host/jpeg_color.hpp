// SPDX-License-Identifier: Apache-2.0
//
// libjpeg's conversion from YCbCr to RGB, in 16-bit fixed point, for samples of any width.
#pragma once

namespace terrazzo::tile {

// 1.402, 0.34414, 0.71414 and 1.772, rounded as in libjpeg.
inline constexpr int kRedOfCr = 91881, kGreenOfCb = -22554, kGreenOfCr = -46802, kBlueOfCb = 116130;
inline constexpr int kJpegOne = 1 << 16, kJpegHalf = kJpegOne / 2;

struct JpegRgb {
  int red, green, blue;  // not clamped to the range of samples yet
};

// Chroma as differences from its centre.
[[nodiscard]] constexpr JpegRgb jpeg_to_rgb(int luma, int cb, int cr) noexcept {
  return {luma + ((kRedOfCr * cr + kJpegHalf) >> 16), luma + ((kGreenOfCb * cb + kGreenOfCr * cr + kJpegHalf) >> 16),
          luma + ((kBlueOfCb * cb + kJpegHalf) >> 16)};
}

}  // namespace terrazzo::tile
