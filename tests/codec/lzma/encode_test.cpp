// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LZMA

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(int level) { return {.block = {.compression = tiff::Compression::lzma}, .level = level}; }

TEST(EncodeLzma, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of(6)); }

TEST(EncodeLzma, RoundTripsAtEveryLevel) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lzma);
  Workspace workspace;
  for (int level = encoder->lowest_level; level <= encoder->highest_level; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : samples_of_every_kind(100 * 90)) {
      expect_round_trip(format_of(level), {100, 90}, samples, workspace);
    }
  }
}

TEST(EncodeLzma, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lzma);
  std::vector<EncodeFormat> const others = {format_of(encoder->lowest_level), format_of(encoder->highest_level)};
  for (int level = encoder->lowest_level; level <= encoder->highest_level; level += 2) {
    SCOPED_TRACE(level);
    expect_independent_of_history(format_of(level), others, {100, 90});
  }
  expect_independent_of_history(format_of(encoder->default_level), others, {512, 301});
}

TEST(EncodeLzma, RefusesLevelsThatItDoesNotHave) {
  Encoder const* const encoder = find_encoder(tiff::Compression::lzma);
  EXPECT_EQ(encoder->refuse(format_of(encoder->lowest_level)), "");
  EXPECT_EQ(encoder->refuse(format_of(encoder->highest_level)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->lowest_level - 1)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->highest_level + 1)), "");
}

TEST(EncodeLzma, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) { expect_libtiff_reads(format_of(6), {64, 48}, samples); }
}
}  // namespace
}  // namespace terrazzo::codec::testing

#endif
