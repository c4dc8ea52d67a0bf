// SPDX-License-Identifier: Apache-2.0
#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::none};

TEST(None, CopiesTheBlock) {
  Bytes const samples = random_bytes(100, 1);
  Decoded const decoded = decode(kFormat, {10, 10}, samples, 100);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_FALSE(decoded.result.surplus_input);
  EXPECT_EQ(decoded.bytes, samples);
}

TEST(None, CountsWhatAShortBlockHolds) {
  Decoded const decoded = decode(kFormat, {10, 10}, random_bytes(60, 1), 100);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, 60u);
}

TEST(None, ReportsBytesBeyondTheBlock) {
  Decoded const decoded = decode(kFormat, {10, 10}, random_bytes(101, 1), 100);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
}

TEST(None, DecodesNothingToNothing) {
  EXPECT_EQ(decode(kFormat, {0, 0}, {}, 0).result.status, TileStatus::ok);
  EXPECT_EQ(decode(kFormat, {1, 1}, {}, 1).result.status, TileStatus::truncated);
}

}  // namespace
}  // namespace terrazzo::codec::testing
