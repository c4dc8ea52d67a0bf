// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LZ4

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(int level) { return {.block = {.compression = tiff::Compression::lz4}, .level = level}; }

TEST(EncodeLz4Frame, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of(0)); }

TEST(EncodeLz4Frame, RoundTripsAtEveryLevel) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lz4);
  Workspace workspace;
  for (int level = encoder->lowest_level; level <= encoder->highest_level; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : samples_of_every_kind(100 * 90)) {
      expect_round_trip(format_of(level), {100, 90}, samples, workspace);
    }
  }
}

TEST(EncodeLz4Frame, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lz4);
  std::vector<EncodeFormat> const others = {format_of(encoder->lowest_level), format_of(encoder->highest_level)};
  for (int level = encoder->lowest_level; level <= encoder->highest_level; level += 2) {
    SCOPED_TRACE(level);
    expect_independent_of_history(format_of(level), others, {100, 90});
  }
  expect_independent_of_history(format_of(encoder->default_level), others, {512, 301});
}

// A context of liblz4 that is used again writes other frames than a fresh one, now and then.
TEST(EncodeLz4Frame, GivesTheSameBytesForManySmallBlocks) {
  Workspace used;
  std::mt19937 generator(3);
  for (int round = 0; round < 300; ++round) {
    BlockShape const shape{1 + static_cast<std::uint32_t>(generator() % 400), 1};
    Bytes samples(shape.width_px);
    for (std::byte& b : samples) { b = static_cast<std::byte>(generator() % 3); }
    ASSERT_EQ(encode(format_of(0), shape, samples, used), encode(format_of(0), shape, samples));
  }
}

TEST(EncodeLz4Frame, RefusesLevelsThatItDoesNotHave) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lz4);
  EXPECT_EQ(encoder->refuse(format_of(encoder->lowest_level)), "");
  EXPECT_EQ(encoder->refuse(format_of(encoder->highest_level)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->lowest_level - 1)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->highest_level + 1)), "");
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
