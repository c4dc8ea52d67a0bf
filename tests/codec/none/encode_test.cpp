// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of() { return {.block = {.compression = tiff::Compression::none}}; }

TEST(EncodeNone, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of()); }

TEST(EncodeNone, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) {
    expect_libtiff_reads(format_of(), {64, 48}, samples);
    expect_libtiff_reads(format_of(), {61, 50}, Bytes(samples.begin(), samples.begin() + 61 * 50));
  }
}

TEST(EncodeNone, IsReadByLibtiffWithManySamplesAPixel) {
  for (std::uint32_t const samples : {1U, 2U, 3U, 999U, 5000U, 65535U}) {
    EncodeFormat format = format_of();
    format.block.samples_per_pixel = samples;
    expect_libtiff_reads(format, {16, 16}, random_bytes(std::size_t{16} * 16 * samples, samples));
    expect_libtiff_reads(format, {3, 2}, random_bytes(std::size_t{3} * 2 * samples, samples));
  }
}

TEST(EncodeNone, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  expect_independent_of_history(format_of(), {format_of()}, {100, 100});
}

TEST(EncodeNone, RefusesSamplesThatAreNotTheBlock) {
  Workspace workspace;
  EncodedBlock out;
  Encoder const* const encoder = find_encoder(tiff::Compression::none);
  EXPECT_EQ(encoder->encode(format_of(), {4, 4}, Bytes(15), out, workspace).status, TileStatus::failed);
  EXPECT_TRUE(out.bytes.empty());
}

}  // namespace
}  // namespace terrazzo::codec::testing
