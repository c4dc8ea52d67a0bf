// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/level_choice.hpp"

#include "codec/encode_support.hpp"
#include "codec/noise_samples.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

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

int chosen(Bytes const& block, int wanted) {
  Workspace workspace;
  Bytes room(2 * block.size() + 1000);
  return choose_zstd_level(block, wanted, room, workspace);
}

TEST(ChooseZstdLevel, TakesTheFastestWhereSearchGainsNothing) {
  Bytes const block = residuals(kSize, 1);
  for (int const wanted : {3, 5, 9, 12}) { EXPECT_EQ(chosen(block, wanted), 1) << wanted; }
}

TEST(ChooseZstdLevel, KeepsLevelsThatAreWishesForTheLastPerCent) {
  for (int const wanted : {1, 2, 13, 19, 22}) { EXPECT_EQ(chosen(residuals(kSize, 1), wanted), wanted); }
}

TEST(ChooseZstdLevel, KeepsTheLevelOfSmallBlocks) { EXPECT_EQ(chosen(residuals(60'000, 1), 9), 9); }

TEST(ChooseZstdLevel, KeepsTheLevelWhereSearchPays) {
  for (int const wanted : {5, 9}) { EXPECT_NE(chosen(rows_alike_of(kSize, 2), wanted), 1) << wanted; }
}

// The sample shows no repeat, but the second half of the block is the first.
TEST(ChooseZstdLevel, DoesNotTakeTheFastestWhereFarPartsRepeat) {
  Bytes block = residuals(kSize, 3);
  std::copy_n(block.begin(), kSize / 2, block.begin() + kSize / 2);
  EXPECT_NE(chosen(block, 9), 1);
}

TEST(ChooseZstdLevel, DependsOnTheBlockAlone) {
  Workspace workspace;
  Bytes const blocks[] = {residuals(kSize, 1), rows_alike_of(kSize, 2), planes(256, 3)};
  Bytes room(2 * kSize);
  std::vector<int> first;
  for (Bytes const& block : blocks) { first.push_back(chosen(block, 9)); }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < std::size(blocks); ++i) {
      EXPECT_EQ(choose_zstd_level(blocks[i], 9, room, workspace), first[i]);
    }
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
