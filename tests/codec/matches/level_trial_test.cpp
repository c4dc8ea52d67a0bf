// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/level_trial.hpp"

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrazzo::codec::testing {
namespace {

TEST(SampleForTrial, IsTwoPiecesOfTheBlock) {
  std::mt19937 random(1);
  for (std::size_t const size : {kLeastTriedBytes, kLeastTriedBytes + 777, std::size_t{1} << 20}) {
    std::vector<std::byte> const block = random_noise(size, random);
    Scratch memory;
    auto const sample = sample_for_trial(block, 16'384, memory);
    ASSERT_EQ(sample.size(), 16'384U);
    for (std::size_t piece = 0; piece < 2; ++piece) {
      auto const found = std::ranges::search(block, sample.subspan(piece * 8192, 8192));
      ASSERT_FALSE(found.empty());
      auto const at = static_cast<double>(found.begin() - block.begin() + 4096);
      EXPECT_NEAR(at / static_cast<double>(size), piece == 0 ? 0.25 : 0.75, 0.01);
    }
  }
}

TEST(IsTelling, LeavesFlatAreasOut) {
  std::vector<std::byte> const sample(3000);
  EXPECT_TRUE(is_telling(1000, sample));
  EXPECT_FALSE(is_telling(999, sample));
  EXPECT_FALSE(is_telling(0, sample)) << "an error";
}

TEST(IsAboutAsSmall, TakesNoSizeForAnError) {
  EXPECT_TRUE(is_about_as_small(101, 100, 1.01));
  EXPECT_FALSE(is_about_as_small(102, 100, 1.01));
  EXPECT_FALSE(is_about_as_small(0, 100, 1.01));
  EXPECT_FALSE(is_about_as_small(100, 0, 1.01));
}

}  // namespace
}  // namespace terrazzo::codec::testing
