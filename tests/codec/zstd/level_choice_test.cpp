// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/level_choice.hpp"

#include "codec/encode_support.hpp"
#include "codec/noise_samples.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <algorithm>
#include <random>

namespace terrazzo::codec::testing {
namespace {

constexpr std::size_t kSize = std::size_t{512} << 10;

// Residuals of a photograph: short codes, hardly a repeat.
Bytes residuals(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::geometric_distribution<int> distance(0.05);
  return bytes_of(size, [&](std::size_t) { return random() % 2 == 0 ? distance(random) : -distance(random); });
}

// Rows of 512 that resemble the one above.
Bytes rows_alike_of(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes = bytes_of(size, [&](std::size_t) { return random() % 64; });
  for (std::size_t i = 512; i < bytes.size(); ++i) {
    if (random() % 12 != 0) { bytes[i] = bytes[i - 512]; }
  }
  return bytes;
}

EncodeFormat predicted(int level) {
  return {.block = {.compression = tiff::Compression::zstd}, .is_predicted = true, .level = level};
}

int chosen(Bytes const& block, EncodeFormat const& format) {
  Workspace workspace;
  Bytes room(2 * block.size() + 1000);
  return choose_zstd_level(format, block, room, workspace);
}

TEST(ChooseZstdLevel, TakesTheFastestWhereSearchGainsNothing) {
  Bytes const block = residuals(kSize, 1);
  for (int const wanted : {6, 9, 12}) { EXPECT_EQ(chosen(block, predicted(wanted)), 1) << wanted; }
}

TEST(ChooseZstdLevel, KeepsFastLevelsAndTheHighest) {
  for (int const wanted : {1, 2, 5, 13, 19, 22}) { EXPECT_EQ(chosen(residuals(kSize, 1), predicted(wanted)), wanted); }
}

TEST(ChooseZstdLevel, KeepsTheLevelOfOtherBlocks) {
  EXPECT_EQ(chosen(residuals(100'000, 1), predicted(9)), 9) << "small";
  EncodeFormat format = predicted(9);
  format.is_predicted = false;
  EXPECT_EQ(chosen(residuals(kSize, 1), format), 9);
}

TEST(ChooseZstdLevel, KeepsTheLevelWhereSearchPays) { EXPECT_NE(chosen(rows_alike_of(kSize, 2), predicted(9)), 1); }

// The sample shows no repeat, but the second half of the block is the first.
TEST(ChooseZstdLevel, KeepsTheLevelWhereFarPartsRepeat) {
  for (std::size_t const size : {kSize, 16 * kSize}) {
    Bytes block = residuals(size, 3);
    std::copy_n(block.begin(), size / 2, block.begin() + static_cast<std::ptrdiff_t>(size / 2));
    EXPECT_EQ(chosen(block, predicted(9)), 9);
  }
}

// A level that is taken by a trial adds little to the whole block, too.
TEST(ChooseZstdLevel, AddsLittleToTheSize) {
  for (Bytes const& block : {residuals(kSize, 1), rows_alike_of(kSize, 2), rows_alike(512, 4)}) {
    auto const size_at = [&](int level) {
      Bytes out(ZSTD_compressBound(block.size()));
      return static_cast<double>(ZSTD_compress(out.data(), out.size(), block.data(), block.size(), level));
    };
    int const level = chosen(block, predicted(9));
    EXPECT_LT(size_at(level), 1.015 * size_at(9)) << level;
  }
}

TEST(ChooseZstdLevel, DependsOnTheBlockAlone) {
  Workspace workspace;
  Bytes const blocks[] = {residuals(kSize, 1), rows_alike_of(kSize, 2), planes(256, 3)};
  Bytes room(2 * kSize);
  std::vector<int> first;
  for (Bytes const& block : blocks) { first.push_back(chosen(block, predicted(9))); }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < std::size(blocks); ++i) {
      EXPECT_EQ(choose_zstd_level(predicted(9), blocks[i], room, workspace), first[i]);
    }
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
