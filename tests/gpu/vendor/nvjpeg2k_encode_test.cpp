// SPDX-License-Identifier: Apache-2.0
//
// What can be asked without encoding; nvjpeg2k_encode_device_test.cpp encodes.
#include "gpu/vendor/nvjpeg2k_encode.hpp"

#include "gpu/vendor/library.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

TEST(Nvjpeg2kEncode, IsAvailableOnlyWhenItWasFound) {
  if (nvjpeg2k_encode_available()) { EXPECT_TRUE(vendor_module(Vendor::nvjpeg2k).library.found); }
}

TEST(Nvjpeg2kEncode, IsRefusedWhereItIsAbsent) {
  if (nvjpeg2k_encode_available()) { GTEST_SKIP() << "nvJPEG2000 is there"; }
  try {
    Nvjpeg2kEncoder const encoder;
    FAIL() << "nothing was thrown";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what(); }
}

TEST(Nvjpeg2kEncode, IsNotAskedOfVersionsBeforeNine) {
  for (char const* const version : {"0.9.0", "0.9", "0.10.2", "0.11.0", "1.0.0", "2.3"}) {
    EXPECT_TRUE(nvjpeg2k_version_encodes(version)) << version;
  }
  for (char const* const version : {"0.8.1", "0.8.99", "0.0.1", "0", "", "x", "0.", "0.x", ".9"}) {
    EXPECT_FALSE(nvjpeg2k_version_encodes(version)) << version;
  }
}

TEST(Nvjpeg2kEncode, TakesLosslessSamplesThatTheLibraryHasTypesFor) {
  struct Case {
    std::uint32_t samples, bits;
    bool is_signed, is_rgb, lossless, taken;
  };
  for (Case const& c : {Case{1, 8, false, false, true, true}, Case{4, 16, true, true, true, true},
                        Case{3, 16, false, true, true, true}, Case{3, 16, false, false, true, false},
                        Case{2, 8, false, true, true, false}, Case{1, 8, true, false, true, false},
                        Case{1, 32, false, false, true, false}, Case{5, 8, false, true, true, false},
                        Case{0, 8, false, true, true, false}, Case{1, 8, false, false, false, false}}) {
    Jpeg2000EncodeFormat const format{.width_px = 64,
                                      .height_px = 64,
                                      .samples = c.samples,
                                      .bits_per_sample = c.bits,
                                      .is_signed = c.is_signed,
                                      .is_rgb = c.is_rgb,
                                      .lossless = c.lossless};
    EXPECT_EQ(Nvjpeg2kEncoder::takes(format), c.taken) << c.samples << " of " << c.bits << " bits";
  }
  EXPECT_FALSE(Nvjpeg2kEncoder::takes({.width_px = 0, .height_px = 64}));
}

TEST(Nvjpeg2kEncode, BoundsAStreamAboveItsSamples) {
  Jpeg2000EncodeFormat const format{.width_px = 100, .height_px = 50, .samples = 3, .bits_per_sample = 16};
  EXPECT_GT(Nvjpeg2kEncoder::bound(format), 100u * 50 * 3 * 2 + 4000);
  EXPECT_GE(Nvjpeg2kEncoder::library_device_bytes(format, 8), 8u * 100 * 50 * 3 * 8);
}

}  // namespace
}  // namespace terrazzo::gpu
