// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/noise.hpp"

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using testing::bytes_of;
using Bytes = std::vector<std::byte>;

TEST(Noise, TellsNoiseFromStructure) {
  std::mt19937 random(1);
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t) { return random(); }).data()), Noise::all);
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t) { return random() % 64; }).data()), Noise::all);
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t) { return random() % 8; }).data()), Noise::none);
  EXPECT_EQ(noise_of(Bytes(512).data()), Noise::none);
}

TEST(Noise, SeesEvenSpreadOfEveryOtherByte) {
  // A full set of values in any order is as even as can be.
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t i) { return i % 2 == 0 ? i / 2 * 77 : 0; }).data()),
            Noise::first_of_two);
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t i) { return i % 2 == 1 ? i / 2 * 77 : 0; }).data()),
            Noise::second_of_two);
  // Small differences: the high byte follows from the low one.
  EXPECT_EQ(noise_of(bytes_of(512, [&](std::size_t i) { return i % 2 == 0 ? i / 2 * 77 % 64 : 0; }).data()),
            Noise::none);
}

TEST(Noise, CountsSharesOfLargeBlocksOnly) {
  std::mt19937 random(2);
  auto const half = [&](std::size_t i) { return i / 512 % 2 == 0 ? random() : 0; };
  NoiseShare const large = noise_share(bytes_of(1 << 20, half));
  EXPECT_NEAR(large.all, 0.5, 0.02);
  EXPECT_EQ(large.every_other, 0);
  EXPECT_EQ(noise_share(bytes_of(60'000, half)).all, 0);
  EXPECT_EQ(noise_share({}).all, 0);
}

}  // namespace
}  // namespace terrazzo::codec
