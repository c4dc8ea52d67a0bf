// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/level_trial.hpp"

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace terrazzo::codec::testing {
namespace {

TEST(SampleForTrial, HasPiecesAtEqualDistances) {
  std::mt19937 random(1);
  for (std::size_t const size : {kLeastTriedBytes, kLeastTriedBytes + 777, std::size_t{1} << 20}) {
    std::vector<std::byte> const block = random_noise(size, random);
    Scratch memory;
    auto const sample = sample_for_trial(block, memory);
    ASSERT_EQ(sample.size(), kTrialPieces * kTrialPieceBytes);
    for (std::size_t piece = 0; piece < kTrialPieces; ++piece) {
      auto const found = std::ranges::search(block, sample.subspan(piece * kTrialPieceBytes, kTrialPieceBytes));
      ASSERT_FALSE(found.empty());
      auto const middle = static_cast<double>(found.begin() - block.begin()) + kTrialPieceBytes / 2.0;
      EXPECT_NEAR(middle / static_cast<double>(size), (2.0 * static_cast<double>(piece) + 1) / (2.0 * kTrialPieces),
                  0.01);
    }
  }
}

TEST(IsTried, ForLargeBlocksOfPredictedSmallIntegers) {
  EncodeFormat format{.block = {.bits_per_sample = 16}, .is_predicted = true};
  EXPECT_TRUE(is_tried(format, kLeastTriedBytes));
  EXPECT_FALSE(is_tried(format, kLeastTriedBytes - 1));
  format.block.sample_format = tiff::SampleFormat::int_;
  EXPECT_TRUE(is_tried(format, kLeastTriedBytes));
  format.block.sample_format = tiff::SampleFormat::ieee_float;
  EXPECT_FALSE(is_tried(format, kLeastTriedBytes));
  EXPECT_FALSE(is_tried({.block = {.bits_per_sample = 32}, .is_predicted = true}, kLeastTriedBytes));
  EXPECT_FALSE(is_tried({.block = {.bits_per_sample = 8}}, kLeastTriedBytes));
}

TEST(IsTypical, IsFalseForFlatAreas) {
  std::vector<std::byte> const sample(3000);
  EXPECT_TRUE(is_typical(1000, sample));
  EXPECT_FALSE(is_typical(999, sample));
  EXPECT_FALSE(is_typical(0, sample)) << "an error";
}

// Sizes of the sample by level; 0 is an error.
int chosen(std::vector<std::byte> const& block, int wanted, std::map<int, std::size_t> const& sizes) {
  constexpr FasterLevel kFaster[] = {{1, 1.0}, {4, 1.01}};
  Scratch memory;
  return choose_level(kFaster, wanted, block, memory, [&](int level, auto) { return sizes.at(level); });
}

TEST(ChooseLevel, TakesTheFirstThatAddsLittle) {
  std::mt19937 random(1);
  std::vector<std::byte> const block = random_noise(kLeastTriedBytes, random);
  EXPECT_EQ(chosen(block, 9, {{1, 20'000}, {4, 20'200}, {9, 20'000}}), 1);
  EXPECT_EQ(chosen(block, 9, {{1, 20'001}, {4, 20'200}, {9, 20'000}}), 4);
  EXPECT_EQ(chosen(block, 9, {{1, 20'001}, {4, 20'201}, {9, 20'000}}), 9);
  EXPECT_EQ(chosen(block, 3, {{1, 20'001}, {3, 20'000}}), 3) << "level 4 is not faster";
}

TEST(ChooseLevel, KeepsTheWantedLevelAfterErrors) {
  std::mt19937 random(1);
  std::vector<std::byte> const block = random_noise(kLeastTriedBytes, random);
  EXPECT_EQ(chosen(block, 9, {{1, 0}, {4, 20'000}, {9, 20'000}}), 9);
  EXPECT_EQ(chosen(block, 9, {{1, 20'000}, {4, 0}, {9, 0}}), 9);
}

TEST(ChooseLevel, KeepsTheWantedLevelWhereFarPartsRepeat) {
  std::mt19937 random(1);
  std::vector<std::byte> block = random_noise(kLeastTriedBytes / 2, random);
  std::vector<std::byte> const half = block;
  block.insert(block.end(), half.begin(), half.end());
  EXPECT_EQ(chosen(block, 9, {{1, 20'000}, {4, 20'000}, {9, 20'000}}), 9);
}

}  // namespace
}  // namespace terrazzo::codec::testing
