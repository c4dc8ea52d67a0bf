// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LIBDEFLATE

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(int level) { return {.block = {.compression = tiff::Compression::deflate}, .level = level}; }

TEST(EncodeDeflate, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of(6)); }

TEST(EncodeDeflate, RoundTripsAtEveryLevel) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  Workspace workspace;
  for (int level = encoder->lowest_level; level <= encoder->highest_level; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : samples_of_every_kind(100 * 90)) {
      expect_round_trip(format_of(level), {100, 90}, samples, workspace);
    }
  }
}

TEST(EncodeDeflate, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  std::vector<EncodeFormat> const others = {format_of(encoder->lowest_level), format_of(encoder->highest_level)};
  for (int level = encoder->lowest_level; level <= encoder->highest_level; level += 2) {
    SCOPED_TRACE(level);
    expect_independent_of_history(format_of(level), others, {100, 90});
  }
  expect_independent_of_history(format_of(encoder->default_level), others, {512, 301});
}

TEST(EncodeDeflate, RefusesLevelsThatItDoesNotHave) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  EXPECT_EQ(encoder->refuse(format_of(encoder->lowest_level)), "");
  EXPECT_EQ(encoder->refuse(format_of(encoder->highest_level)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->lowest_level - 1)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->highest_level + 1)), "");
}

TEST(EncodeDeflate, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) { expect_libtiff_reads(format_of(6), {64, 48}, samples); }
}
TEST(EncodeDeflate, FailsRatherThanCrashesAtALevelThatWasNotRefused) {
  Workspace workspace;
  EncodedBlock out;
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  EXPECT_EQ(encoder->encode(format_of(99), {4, 4}, Bytes(16), out, workspace).status, TileStatus::failed);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
