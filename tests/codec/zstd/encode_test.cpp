// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/noise_samples.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <algorithm>

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(int level) { return {.block = {.compression = tiff::Compression::zstd}, .level = level}; }

TEST(EncodeZstd, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of(9)); }

TEST(EncodeZstd, RoundTripsAtEveryLevel) {
  Encoder const* const encoder = find_encoder(tiff::Compression::zstd);
  Workspace workspace;
  for (int level = encoder->lowest_level; level <= encoder->highest_level; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : samples_of_every_kind(100 * 90)) {
      expect_round_trip(format_of(level), {100, 90}, samples, workspace);
    }
  }
}

TEST(EncodeZstd, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  Encoder const* const encoder = find_encoder(tiff::Compression::zstd);
  std::vector<EncodeFormat> const others = {format_of(encoder->lowest_level), format_of(encoder->highest_level)};
  for (int level = encoder->lowest_level; level <= encoder->highest_level; level += 2) {
    SCOPED_TRACE(level);
    expect_independent_of_history(format_of(level), others, {100, 90});
  }
  expect_independent_of_history(format_of(encoder->default_level), others, {512, 301});
}

TEST(EncodeZstd, WritesAChecksumOnRequest) {
  Encoder const* const encoder = find_encoder(tiff::Compression::zstd);
  Workspace workspace;
  for (Bytes const& samples : samples_of_every_kind(512 * 301)) {
    for (bool const checksum : {false, true}) {
      EncodeFormat format = format_of(9);
      format.checksum = checksum;
      EncodedBlock block;
      ASSERT_EQ(encoder->encode(format, {512, 301}, samples, block, workspace).status, tile::TileStatus::ok);
      // Bit 2 of the frame header's descriptor (RFC 8878, 3.1.1.1.1).
      EXPECT_EQ((static_cast<unsigned>(block.bytes[4]) >> 2U) & 1U, checksum ? 1U : 0U);
      Bytes decoded(samples.size());
      EXPECT_EQ(ZSTD_decompress(decoded.data(), decoded.size(), block.bytes.data(), block.bytes.size()),
                samples.size());
      EXPECT_EQ(decoded, samples);
    }
  }
}

TEST(EncodeZstd, RefusesLevelsThatItDoesNotHave) {
  Encoder const* const encoder = find_encoder(tiff::Compression::zstd);
  EXPECT_EQ(encoder->refuse(format_of(encoder->lowest_level)), "");
  EXPECT_EQ(encoder->refuse(format_of(encoder->highest_level)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->lowest_level - 1)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->highest_level + 1)), "");
}

TEST(EncodeZstd, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) { expect_libtiff_reads(format_of(9), {64, 48}, samples); }
}
TEST(EncodeZstd, SaysTheContentsSizeInTheFrameHeader) {
  Bytes const stream = encode(format_of(9), {100, 90}, random_bytes(9000, 1));
  EXPECT_EQ(ZSTD_getFrameContentSize(stream.data(), stream.size()), 9000u);
}

// Rows of a plane of structure and a plane of noise.
Bytes half_noise(std::size_t size) {
  Bytes bytes = random_bytes(size, 2);
  for (std::size_t i = 0; i < size; ++i) {
    if (i / 512 % 2 == 0) { bytes[i] &= i % 5 == 0 ? std::byte{3} : std::byte{0}; }
  }
  return bytes;
}

std::size_t library_size(Bytes const& bytes, int level) {
  Bytes out(ZSTD_compressBound(bytes.size()));
  return ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
}

TEST(EncodeZstd, IsAsSmallOnNoiseAsTheLibrarysLevel) {
  Bytes const samples = half_noise(512 * 512);
  Workspace workspace;
  for (int const level : {5, 6, 9, 12, 13}) {
    SCOPED_TRACE(level);
    expect_round_trip(format_of(level), {512, 512}, samples, workspace);
    EXPECT_LT(static_cast<double>(encode(format_of(level), {512, 512}, samples).size()),
              1.01 * static_cast<double>(library_size(samples, level)));
  }
}

// Tiles of 512 px: float32 with predictor 3, four bands of uint16 with predictor 2; then one of a megapixel.
TEST(EncodeZstd, RoundTripsPredictedTilesAtEveryLevelThatIsOurs) {
  Workspace workspace;
  for (int level = 4; level <= 13; level += level < 10 ? 1 : 3) {
    SCOPED_TRACE(level);
    expect_round_trip(format_of(level), {2048, 256}, planes(256, 3), workspace);
    expect_round_trip(format_of(level), {2048, 256}, differences(2048 * 128, 4), workspace);
    expect_round_trip(format_of(level), {2048, 120}, planes(120, 3), workspace);
  }
  expect_round_trip(format_of(9), {4096, 4096}, planes(8192, 5), workspace);
}

TEST(EncodeZstd, IsAsSmallOnPredictedTilesAsTheLibrarysLevel) {
  for (int level = 5; level <= 12; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : {planes(512, 6), smooth_planes(512, 6), differences(2048 * 256, 7), planes(128, 8)}) {
      BlockShape const shape{2048, static_cast<std::uint32_t>(samples.size() / 2048)};
      EXPECT_LT(static_cast<double>(encode(format_of(level), shape, samples).size()),
                1.01 * static_cast<double>(library_size(samples, level)));
    }
  }
}

TEST(EncodeZstd, GivesTheSameBytesForPredictedTilesWhateverTheWorkspaceDidBefore) {
  Bytes const samples = planes(256, 9), other = differences(2048 * 128, 10);
  Bytes const expected = encode(format_of(9), {2048, 256}, samples);
  Workspace workspace;
  for (int const level : {1, 5, 9, 19}) {
    static_cast<void>(
        encode(format_of(level), {2048, 128}, Bytes(other.begin(), other.begin() + 2048 * 128), workspace));
    EXPECT_EQ(encode(format_of(9), {2048, 256}, samples, workspace), expected);
    static_cast<void>(encode(format_of(level), {2048, 100}, random_bytes(2048 * 100, 3), workspace));
    EXPECT_EQ(encode(format_of(9), {2048, 256}, samples, workspace), expected);
  }
}

TEST(EncodeZstd, LeavesWhatOnlyLooksLikeNoiseToTheLibrary) {
  Bytes grey = random_bytes(768 * 512, 11);
  for (std::size_t i = 0; i < grey.size(); ++i) { grey[i] = i % 3 == 0 ? grey[i] & std::byte{63} : grey[i - 1]; }
  EXPECT_EQ(encode(format_of(9), {768, 512}, grey).size(), library_size(grey, 9));
}

TEST(EncodeZstd, LeavesRowsThatResembleTheOneAboveToTheLibrary) {
  for (Bytes const& samples : {rows_alike(512, 3), rows_alike_beside_noise(1024, 4)}) {
    BlockShape const shape{1024, static_cast<std::uint32_t>(samples.size() / 1024)};
    EXPECT_EQ(encode(format_of(9), shape, samples).size(), library_size(samples, 9));
  }
}

TEST(EncodeZstd, LeavesLongRepeatsBesideNoiseToTheLibrary) {
  Bytes const samples = sparse_bits(1024, 13);
  EXPECT_EQ(encode(format_of(9), {1024, 1024}, samples).size(), library_size(samples, 9));
}

TEST(EncodeZstd, PredictedTilesAreReadByLibtiff) { expect_libtiff_reads(format_of(9), {1024, 512}, planes(256, 12)); }

TEST(EncodeZstd, SpendsTheWholeLevelOnNoiseThatRepeats) {
  Bytes samples = half_noise(512 * 512);
  std::copy_n(samples.begin(), samples.size() / 4, samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 4));
  std::copy_n(samples.begin(), samples.size() / 2, samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2));
  EXPECT_EQ(encode(format_of(9), {512, 512}, samples).size(), library_size(samples, 9));
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
