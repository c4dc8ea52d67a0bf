// SPDX-License-Identifier: Apache-2.0
//
// The decoder itself is tested in tests/tile; here, that the table leads to it.
#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::lzw};

// Clear, 'A', 'B', 258 ("AB"), EOI, in 9 bits each, most significant first.
Bytes const kStream{std::byte{0x80}, std::byte{0x10}, std::byte{0x48},
                    std::byte{0x50}, std::byte{0x28}, std::byte{0x08}};

TEST(Lzw, DecodesALiteralStream) {
  Decoded const decoded = decode(kFormat, {4, 1}, kStream, 4);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes, (Bytes{std::byte{'A'}, std::byte{'B'}, std::byte{'A'}, std::byte{'B'}}));
}

TEST(Lzw, SaysHowFarAShortStreamGot) {
  Decoded const decoded = decode(kFormat, {9, 1}, kStream, 9);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, 4u);
}

TEST(Lzw, SurvivesDamage) { expect_survives_damage(kFormat, {16, 16}, kStream, 256); }

}  // namespace
}  // namespace terrazzo::codec::testing
