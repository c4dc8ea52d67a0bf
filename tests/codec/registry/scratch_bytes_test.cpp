// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

namespace terrazzo::codec {
namespace {

std::uint64_t scratch_of(BlockFormat const& format, BlockShape shape) {
  return find_codec(format.compression)->scratch_bytes(format, shape);
}

TEST(ScratchBytes, AreThoseOfTheLibrary) {
  using tiff::Compression;
  EXPECT_EQ(scratch_of({.compression = Compression::jpeg2000, .samples_per_pixel = 3}, {16, 8}), 16u * 8 * 3 * 4);
  EXPECT_EQ(scratch_of({.compression = Compression::jpeg}, {100, 100}), 0u);
  EXPECT_EQ(scratch_of({.compression = Compression::jpeg, .bits_per_sample = 12}, {33, 1}), 2u * 64 * 32);
  EXPECT_EQ(scratch_of({.compression = Compression::webp, .samples_per_pixel = 4}, {10, 10}), 4u * (100 + 170));
  EXPECT_EQ(scratch_of({.compression = Compression::lerc, .bits_per_sample = 32}, {10, 10}), 400u + 100);
  EXPECT_EQ(
      scratch_of({.compression = Compression::lerc, .bits_per_sample = 32, .lerc_additional_compression = 2}, {10, 10}),
      400u + 100 + 400 + 133 + 256);
  EXPECT_GT(scratch_of({.compression = Compression::jxl}, {10, 10}), 4u << 20);
  EXPECT_EQ(find_codec(Compression::deflate)->scratch_bytes, nullptr);
}

}  // namespace
}  // namespace terrazzo::codec
