// SPDX-License-Identifier: Apache-2.0
//
// The decoder itself is tested in tests/tile; here, that the table leads to it.
#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::packbits};

// Three times 'A', then "BC" as it stands.
Bytes const kStream{std::byte{0xFE}, std::byte{'A'}, std::byte{0x01}, std::byte{'B'}, std::byte{'C'}};

TEST(PackBits, DecodesALiteralStream) {
  Decoded const decoded = decode(kFormat, {5, 1}, kStream, 5);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes, (Bytes{std::byte{'A'}, std::byte{'A'}, std::byte{'A'}, std::byte{'B'}, std::byte{'C'}}));
}

TEST(PackBits, SaysHowFarAShortStreamGot) {
  Decoded const decoded = decode(kFormat, {9, 1}, kStream, 9);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, 5u);
}

TEST(PackBits, SurvivesDamage) { expect_survives_damage(kFormat, {16, 16}, kStream, 256); }

}  // namespace
}  // namespace terrazzo::codec::testing
