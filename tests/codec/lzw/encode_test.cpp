// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of() { return {.block = {.compression = tiff::Compression::lzw}}; }

TEST(EncodeLzw, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of()); }

TEST(EncodeLzw, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) {
    expect_libtiff_reads(format_of(), {64, 48}, samples);
    expect_libtiff_reads(format_of(), {61, 50}, Bytes(samples.begin(), samples.begin() + 61 * 50));
  }
}

TEST(EncodeLzw, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  expect_independent_of_history(format_of(), {format_of()}, {100, 100});
}

}  // namespace
}  // namespace terrazzo::codec::testing
