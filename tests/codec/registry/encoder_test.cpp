// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/encoder.hpp"

#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <set>

namespace terrazzo::codec {
namespace {

TEST(Encoder, KnowsEachCompressionOnceAndCanReadWhatItWrites) {
  std::set<tiff::Compression> seen;
  for (Codec const& row : all_codecs()) {
    if (row.choices.empty()) { continue; }
    Encoder const& encoder = row.encoder;
    EXPECT_TRUE(seen.insert(encoder.compression).second);
    EXPECT_EQ(find_encoder(encoder.compression), &encoder);
    EXPECT_NE(encoder.refuse, nullptr);
    EXPECT_NE(encoder.bound, nullptr);
    Codec const* const codec = find_codec(encoder.compression);
    ASSERT_NE(codec, nullptr);
    if (!encoder.library.empty()) { EXPECT_EQ(encoder.library, codec->library); }  // we encode more than we decode
    if (encoder.encode != nullptr) { EXPECT_NE(codec->decode, nullptr); }
  }
  EXPECT_EQ(seen.size(), 11u);
}

TEST(Encoder, HasNoEntryForWhatWeDoNotWrite) {
  EXPECT_EQ(find_encoder(tiff::Compression::jxl), nullptr);
  EXPECT_EQ(find_encoder(static_cast<tiff::Compression>(4)), nullptr);
}

TEST(Encoder, DefaultLevelsLieWithinTheLevels) {
  for (Codec const& row : all_codecs()) {
    if (row.choices.empty()) { continue; }
    Encoder const& encoder = row.encoder;
    EXPECT_GE(encoder.default_level, encoder.lowest_level);
    EXPECT_LE(encoder.default_level, encoder.highest_level);
  }
  EXPECT_EQ(find_encoder(tiff::Compression::deflate)->default_level, 6);
  EXPECT_EQ(find_encoder(tiff::Compression::zstd)->default_level, 9);
  EXPECT_EQ(find_encoder(tiff::Compression::lzma)->default_level, 6);
  EXPECT_EQ(find_encoder(tiff::Compression::lz4)->default_level, 0);
}

TEST(Encoder, BoundsCoverTheSamplesAndGrowWithThem) {
  for (Codec const& row : all_codecs()) {
    if (row.choices.empty()) { continue; }
    Encoder const& encoder = row.encoder;
    EncodeFormat const format{.block = {.compression = encoder.compression, .samples_per_pixel = 3}};
    EXPECT_GE(encoder.bound(format, {512, 512}), 3u * 512 * 512);
    EXPECT_GT(encoder.bound(format, {1024, 512}), encoder.bound(format, {512, 512}));
    // Large shapes overflow nothing.
    EXPECT_GE(encoder.bound(format, {0xFFFF'FFFFU, 65535}), 3 * std::uint64_t{0xFFFF'FFFFU} * 65535);
  }
}

TEST(Encoder, RefusesSamplesThatAreNotTheBlocks) {
  for (Codec const& row : all_codecs()) {
    if (row.choices.empty()) { continue; }
    Encoder const& encoder = row.encoder;
    if (encoder.encode == nullptr) { continue; }
    EncodeFormat const format{.block = {.compression = encoder.compression, .samples_per_pixel = 3},
                              .level = encoder.default_level};
    Workspace workspace;
    EncodedBlock out;
    std::vector<std::byte> const samples(16 * 16 * 3 + 1);
    auto const result = encoder.encode(format, {16, 16}, samples, out, workspace);
    EXPECT_EQ(result.status, tile::TileStatus::failed);
    EXPECT_NE(result.reason, nullptr);
    EXPECT_TRUE(out.bytes.empty());
  }
}

}  // namespace
}  // namespace terrazzo::codec
