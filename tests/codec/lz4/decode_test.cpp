// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_LZ4

#include <lz4frame.h>

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::lz4};
constexpr BlockShape kShape{64, 64};

Bytes compress(Bytes const& samples, bool checksum = true, bool with_size = true) {
  LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
  preferences.frameInfo.contentChecksumFlag = checksum ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  preferences.frameInfo.contentSize = with_size ? samples.size() : 0;
  Bytes stream(LZ4F_compressFrameBound(samples.size(), &preferences));
  std::size_t const size =
      LZ4F_compressFrame(stream.data(), stream.size(), samples.data(), samples.size(), &preferences);
  EXPECT_EQ(LZ4F_isError(size), 0u);
  stream.resize(size);
  return stream;
}

TEST(Lz4Frame, RoundTripsWithAndWithoutSizeAndChecksum) {
  Bytes const samples = picture(64, 64, 1);
  for (bool const checksum : {false, true}) {
    for (bool const with_size : {false, true}) {
      Decoded const decoded = decode(kFormat, kShape, compress(samples, checksum, with_size), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Lz4Frame, DeliversTheFirstBytesOfALongerFrame) {
  Bytes const samples = random_bytes(200'000, 2);  // more than one block of 64 KiB
  for (std::size_t const wanted : {1u, 65'535u, 65'536u, 65'537u, 199'999u}) {
    Decoded const decoded = decode(kFormat, kShape, compress(samples), wanted);
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_TRUE(decoded.result.surplus_input);
    EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
  }
}

TEST(Lz4Frame, ReusesAWorkspaceAfterAFrameThatBroke) {
  Bytes const samples = picture(64, 64, 1);
  Bytes const stream = compress(samples);
  Workspace workspace;
  decode(kFormat, kShape, std::span(stream).first(stream.size() / 2), samples.size(), workspace);
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size(), workspace).bytes, samples);
}

TEST(Lz4Frame, RefusesAWrongChecksum) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.back() ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Lz4Frame, CountsTheBytesOfAFrameThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Lz4Frame, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = picture(64, 64, 1);
  Bytes const stream = compress(samples);
  expect_prefixes_are_honest(kFormat, kShape, stream, samples, stream.size());
  EXPECT_EQ(decode(kFormat, kShape, {}, 16).result.status, TileStatus::truncated);
}

TEST(Lz4Frame, SurvivesDamage) { expect_survives_damage(kFormat, kShape, compress(picture(64, 64, 1)), 64 * 64); }

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
