// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of() { return {.block = {.compression = tiff::Compression::packbits}}; }

TEST(EncodePackBits, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of()); }

TEST(EncodePackBits, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) {
    expect_libtiff_reads(format_of(), {64, 48}, samples);
    expect_libtiff_reads(format_of(), {61, 50}, Bytes(samples.begin(), samples.begin() + 61 * 50));
  }
}

TEST(EncodePackBits, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  expect_independent_of_history(format_of(), {format_of()}, {100, 100});
}

TEST(EncodePackBits, EndsARunWithItsRow) {
  // Two rows of eight equal bytes are two runs, not one of sixteen.
  Bytes const stream = encode(format_of(), {8, 2}, Bytes(16, std::byte{3}));
  EXPECT_EQ(stream, (Bytes{std::byte{0xF9}, std::byte{3}, std::byte{0xF9}, std::byte{3}}));
}

}  // namespace
}  // namespace terrazzo::codec::testing
