// SPDX-License-Identifier: Apache-2.0
#include "write/device/encoder.hpp"

#include "write/plan/file_plan.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

constexpr std::uint64_t kAnyBudget = ~std::uint64_t{0};

DeviceEncoder encoder_for(Compression compression, std::uint64_t budget = kAnyBudget) {
  WriteOptions options;
  options.compression = compression;
  options.tile_size = {64, 64};
  if (compression == Compression::webp) { options.bands = 3; }
  FilePlan const plan = plan_file(64, 64, options);
  return DeviceEncoder(
      {*plan.encoder, plan.format, 4096 * options.bands, plan.shape_of(plan.levels.front(), 0), budget});
}

TEST(DeviceEncoder, LeavesToTheHostWhatNoDeviceEncoderTakes) {
  for (Compression const compression :
       {Compression::lerc, Compression::lerc_zstd, Compression::webp, Compression::lzma, Compression::lz4}) {
    DeviceEncoder const encoder = encoder_for(compression);
    EXPECT_EQ(encoder.kind(), DeviceEncoder::Kind::host) << to_string(compression);
    EXPECT_FALSE(encoder.encodes());
    EXPECT_EQ(encoder.scratch_bytes(100), 0U);
  }
}

DeviceEncoder jpeg_encoder_for(std::uint32_t bands, std::uint32_t edge, bool comes_as_rgb = true) {
  WriteOptions options;
  options.compression = Compression::jpeg;
  options.bands = bands;
  options.tile_size = {edge, edge};
  FilePlan plan = plan_file(edge, edge, options);
  plan.format.block.convert_ycbcr_to_rgb = comes_as_rgb;
  std::uint64_t const bytes = std::uint64_t{edge} * edge * bands;
  return DeviceEncoder({*plan.encoder, plan.format, bytes, plan.shape_of(plan.levels.front(), 0), kAnyBudget});
}

TEST(DeviceEncoder, TakesNvjpegForGrayAndForRgbThatBecomesYCbCr) {
  auto const wanted = gpu::nvjpeg_encode_available() ? DeviceEncoder::Kind::jpeg : DeviceEncoder::Kind::host;
  EXPECT_EQ(jpeg_encoder_for(1, 256).kind(), wanted);
  EXPECT_EQ(jpeg_encoder_for(3, 256).kind(), wanted);
  EXPECT_EQ(jpeg_encoder_for(4, 256).kind(), DeviceEncoder::Kind::host);
  EXPECT_EQ(jpeg_encoder_for(1, 16).kind(), DeviceEncoder::Kind::host) << "few pixels";
  EXPECT_EQ(jpeg_encoder_for(3, 256, false).kind(), DeviceEncoder::Kind::host) << "YCbCr already";
}

TEST(DeviceEncoder, StoresWithoutAnEncoderWhatIsNotCompressed) {
  DeviceEncoder const encoder = encoder_for(Compression::none);
  EXPECT_EQ(encoder.kind(), DeviceEncoder::Kind::raw);
  EXPECT_FALSE(encoder.encodes());
}

TEST(DeviceEncoder, HasRoomForTheLongestBlockOfEveryKernel) {
  for (Compression const compression :
       {Compression::lzw, Compression::packbits, Compression::deflate, Compression::zstd}) {
    DeviceEncoder const encoder = encoder_for(compression);
    ASSERT_TRUE(encoder.encodes());
    EXPECT_GE(encoder.bound(), 4096U) << to_string(compression);
    EXPECT_GE(encoder.output_stride(), encoder.bound());
    EXPECT_EQ(encoder.output_stride() % 16, 0U);
    EXPECT_LE(encoder.scratch_bytes(10), encoder.scratch_bytes(100));
  }
}

// The bytes of a file do not depend on the budget: one block's way through the codec is its floor.
TEST(DeviceEncoder, IsTheSameUnderAnyBudget) {
  for (Compression const compression :
       {Compression::lzw, Compression::packbits, Compression::deflate, Compression::zstd}) {
    DeviceEncoder const encoder = encoder_for(compression), tight = encoder_for(compression, 1);
    EXPECT_TRUE(encoder.encodes()) << to_string(compression);
    EXPECT_EQ(tight.kind(), encoder.kind()) << to_string(compression);
    EXPECT_EQ(tight.bound(), encoder.bound()) << to_string(compression);
  }
}

}  // namespace
}  // namespace terrazzo::writing
