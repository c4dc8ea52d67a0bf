// SPDX-License-Identifier: Apache-2.0
//
// What can be asked without encoding; nvjpeg_encode_device_test.cpp encodes.
#include "gpu/vendor/nvjpeg_encode.hpp"

#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

JpegEncodeFormat gray() { return {.width_px = 256, .height_px = 128, .samples = 1}; }
JpegEncodeFormat colour() { return {.width_px = 256, .height_px = 128, .samples = 3, .is_ycbcr = true}; }

template <class Change>
bool takes(JpegEncodeFormat format, Change const& change) {
  change(format);
  return NvjpegEncoder::takes(format);
}

TEST(NvjpegEncode, IsAvailableOnlyWhenItWasFound) {
  if (nvjpeg_encode_available()) { EXPECT_TRUE(vendor_module(Vendor::nvjpeg).library.found); }
}

TEST(NvjpegEncode, IsRefusedWhereItIsAbsent) {
  if (nvjpeg_encode_available()) { GTEST_SKIP() << "nvJPEG is there"; }
  try {
    NvjpegEncoder const encoder;
    FAIL() << "nothing was thrown";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what(); }
}

TEST(NvjpegEncode, TakesGrayAndYCbCrInTheSubsamplingsOfTheHost) {
  auto const nothing = [](JpegEncodeFormat&) {};
  EXPECT_TRUE(takes(gray(), nothing));
  EXPECT_TRUE(takes(colour(), nothing));
  EXPECT_TRUE(takes(colour(), [](auto& f) { f.chroma_vertical = 1; }));
  EXPECT_TRUE(takes(colour(), [](auto& f) { f.chroma_horizontal = f.chroma_vertical = 1; }));
  EXPECT_FALSE(takes(colour(), [](auto& f) { f.chroma_horizontal = 1; })) << "1 x 2";
  EXPECT_FALSE(takes(colour(), [](auto& f) { f.chroma_horizontal = 4; }));
}

TEST(NvjpegEncode, LeavesComponentsThatAreNoColoursToTheHost) {
  EXPECT_FALSE(takes(colour(), [](auto& f) { f.is_ycbcr = false; })) << "RGB as it is";
  for (std::uint32_t const samples : {0u, 2u, 4u, 5u}) {
    EXPECT_FALSE(takes(gray(), [&](auto& f) { f.samples = samples; })) << samples;
    EXPECT_FALSE(takes(colour(), [&](auto& f) { f.samples = samples; })) << samples;
  }
}

TEST(NvjpegEncode, LeavesSizesAndQualitiesThatJpegLacksToTheHost) {
  EXPECT_FALSE(takes(gray(), [](auto& f) { f.width_px = 0; }));
  EXPECT_FALSE(takes(gray(), [](auto& f) { f.height_px = 65501; }));
  EXPECT_FALSE(takes(gray(), [](auto& f) { f.quality = 0; }));
  EXPECT_FALSE(takes(gray(), [](auto& f) { f.quality = 101; }));
}

TEST(NvjpegEncode, LeavesImagesOfFewAndOfVeryManyPixelsToTheHost) {
  auto const sized = [](std::uint32_t width, std::uint32_t height) {
    return takes(gray(), [&](auto& f) {
      f.width_px = width;
      f.height_px = height;
    });
  };
  EXPECT_TRUE(sized(64, 64));
  EXPECT_TRUE(sized(2048, 16)) << "a strip";
  EXPECT_TRUE(sized(16, 256));
  EXPECT_FALSE(sized(15, 2048));
  EXPECT_FALSE(sized(2048, 15));
  EXPECT_FALSE(sized(63, 64));
  EXPECT_FALSE(sized(16, 16));
  EXPECT_TRUE(sized(16384, 16384));
  EXPECT_FALSE(sized(16385, 16384));
  EXPECT_FALSE(sized(65500, 65500));
}

TEST(NvjpegEncode, BoundsAStreamByItsSamplesAndHeaders) {
  EXPECT_GE(NvjpegEncoder::bound(gray()), 256u * 128 + 2000);
  EXPECT_GE(NvjpegEncoder::bound(colour()), 256u * 128 * 3 + 2000);
  EXPECT_GE(NvjpegEncoder::library_device_bytes(colour(), 8), 8u * 256 * 128 * 3 * 3);
}

}  // namespace
}  // namespace terrazzo::gpu
