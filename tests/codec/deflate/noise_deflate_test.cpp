// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/noise_deflate.hpp"

#include "codec/noise_samples.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LIBDEFLATE

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using testing::differences;
using testing::mixture;
using Bytes = std::vector<std::byte>;

// Size of the stream; 0 when it was not taken. Checks what it inflates to.
std::size_t round_trip(NoiseDeflate& encoder, Bytes const& in, int level, std::size_t room) {
  Bytes out(room);
  std::size_t const size = encoder.encode(in, level, out);
  if (size == 0) { return 0; }
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> const state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  Bytes back(in.size());
  EXPECT_EQ(libdeflate_deflate_decompress(state.get(), out.data(), size, back.data(), back.size(), nullptr),
            LIBDEFLATE_SUCCESS);
  EXPECT_EQ(back, in);
  return size;
}

std::size_t round_trip(Bytes const& in, int level) {
  NoiseDeflate encoder;
  return round_trip(encoder, in, level, in.size() + in.size() / 50 + 100);
}

std::size_t libdeflate_size(Bytes const& in, int level) {
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> const state(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  Bytes out(in.size() + in.size() / 50 + 100);
  return libdeflate_deflate_compress(state.get(), in.data(), in.size(), out.data(), out.size());
}

// Rows of four planes of 512 bytes, as predictor 3 leaves elevations: two that say little, two of noise.
Bytes planes(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 200 == 0 ? random() % 3 : 0)); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 4 == 0 ? random() % 6 : 0)); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random())); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 64)); }
  }
  return bytes;
}

TEST(NoiseDeflate, RoundTripsAtEveryLevelCloseToTheSizeOfLibdeflate) {
  for (int level = 1; level <= NoiseDeflate::kHighestLevel; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& in : {planes(300, 1), differences(200'000, 2)}) {
      std::size_t const size = round_trip(in, level);
      ASSERT_NE(size, 0U);
      EXPECT_LT(static_cast<double>(size), 1.01 * static_cast<double>(libdeflate_size(in, level)));
    }
  }
}

TEST(NoiseDeflate, FindsRowsThatRepeatInNoiseWhateverTheirLength) {
  for (std::size_t const row_bytes : {1000U, 4096U, 4097U, 16'001U}) {
    SCOPED_TRACE(row_bytes);
    auto const bytes = static_cast<std::ptrdiff_t>(row_bytes);
    Bytes const row = differences(row_bytes, 3);
    Bytes in;
    for (unsigned i = 4; in.size() < 400'000; ++i) {
      Bytes const other = differences(row_bytes, i);
      in.insert(in.end(), row.begin(), row.begin() + bytes);
      in.insert(in.end(), other.begin(), other.begin() + bytes);
    }
    std::size_t const size = round_trip(in, 6);
    ASSERT_NE(size, 0U);
    EXPECT_LT(static_cast<double>(size), 1.1 * static_cast<double>(libdeflate_size(in, 6)));
  }
}

TEST(NoiseDeflate, LeavesNoiseToLibdeflateWhereAFullSearchFindsMuchInIt) {
  std::mt19937 random(9);
  Bytes const row = differences(1000, 10), colours = differences(600, 11);
  Bytes rows, picture;  // all rows the same; pixels of 200 colours
  while (rows.size() < 400'000) { rows.insert(rows.end(), row.begin(), row.end()); }
  while (picture.size() < 400'000) {
    auto const colour = static_cast<std::ptrdiff_t>(random() % 200 * 6);
    for (std::ptrdiff_t const byte : {0, 2, 4}) { picture.push_back(colours[static_cast<std::size_t>(colour + byte)]); }
  }
  for (int const level : {1, 6, 7, 9}) {
    EXPECT_EQ(round_trip(rows, level), 0U);
    EXPECT_EQ(round_trip(picture, level), 0U);
  }
}

TEST(NoiseDeflate, LeavesWhatIsNotNoiseToLibdeflate) {
  Bytes ramp(200'000);
  for (std::size_t i = 0; i < ramp.size(); ++i) { ramp[i] = static_cast<std::byte>(i / 100 % 8); }
  EXPECT_EQ(round_trip(ramp, 6), 0U);
  EXPECT_EQ(round_trip(Bytes(200'000), 6), 0U);
  EXPECT_EQ(round_trip(differences(1000, 4), 6), 0U);  // small
  EXPECT_EQ(round_trip(differences(200'000, 4), 10), 0U);
  EXPECT_EQ(round_trip(differences(200'000, 4), 0), 0U);
}

TEST(NoiseDeflate, GivesUpWhenTheOutputHasNoRoom) {
  Bytes const in = differences(200'000, 5);
  NoiseDeflate encoder;
  EXPECT_EQ(round_trip(encoder, in, 6, 1000), 0U);
  EXPECT_EQ(round_trip(encoder, in, 6, 200'000), 0U);
}

TEST(NoiseDeflate, GivesTheSameBytesWhateverItDidBefore) {
  Bytes const in = planes(200, 6), other = planes(150, 7);
  Bytes first(in.size()), second(in.size());
  NoiseDeflate fresh, used;
  std::size_t const size = fresh.encode(in, 6, first);
  ASSERT_NE(size, 0U);
  ASSERT_NE(used.encode(other, 9, second), 0U);
  ASSERT_EQ(used.encode(in, 6, second), size);
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(size), second.begin()));
}

TEST(NoiseDeflate, RoundTripsMixtures) {
  std::mt19937 random(8);
  NoiseDeflate encoder;
  std::size_t taken = 0;
  for (int round = 0; round < 200; ++round) {
    Bytes const in = mixture(65'536 + random() % 400'000, random);
    int const level = 1 + static_cast<int>(random() % 9);
    SCOPED_TRACE(round);
    taken += round_trip(encoder, in, level, in.size() + in.size() / 50 + 100) != 0 ? 1 : 0;
  }
  EXPECT_GT(taken, 100U);
}

}  // namespace
}  // namespace terrazzo::codec

#endif
