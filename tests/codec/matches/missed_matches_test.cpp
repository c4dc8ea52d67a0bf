// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/missed_matches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) { byte = static_cast<std::byte>(random()); }
  return bytes;
}

// As evenly spread as noise, but made of 200 words of three bytes: a picture of few colours.
Bytes words(std::size_t count, unsigned seed) {
  Bytes const colours = random_bytes(600, 1);
  std::mt19937 random(seed);
  Bytes bytes;
  while (bytes.size() < count) {
    auto const at = static_cast<std::ptrdiff_t>(random() % 200 * 3);
    bytes.insert(bytes.end(), colours.begin() + at, colours.begin() + at + 3);
  }
  return bytes;
}

DeflateCost cost_of(Bytes const& block) {
  DeflateCost cost{.block_bits = 8 * block.size()};
  cost.literal_bits.fill(8);
  return cost;
}

TEST(MissedMatches, FindsNoneInNoiseAndManyInPicturesOfFewColours) {
  MissedMatches missed;
  for (std::size_t const size : {3'000U, 70'000U, 131'072U, 300'001U}) {
    SCOPED_TRACE(size);
    Bytes const noise = random_bytes(size, 2), picture = words(size, 3);
    missed.start();
    missed.add(noise, {}, cost_of(noise));
    EXPECT_FALSE(missed.too_many(false));
    missed.start();
    missed.add(picture, {}, cost_of(picture));
    EXPECT_TRUE(missed.too_many(false));
    EXPECT_TRUE(missed.too_many(true));
  }
}

TEST(MissedMatches, CountsOnlyWhatIsLeftAsLiterals) {
  Bytes const picture = words(100'000, 3);
  std::vector<DeflateMatch> matches;
  for (std::size_t at = 0; at + 250 < picture.size(); at += 250) { matches.push_back({0, 250, 0}); }
  MissedMatches missed;
  missed.start();
  missed.add(picture, matches, cost_of(picture));
  EXPECT_FALSE(missed.too_many(false));
}

TEST(MissedMatches, CountsOnlyWhatIsCheaperThanItsLiterals) {
  Bytes const picture = words(100'000, 3);
  DeflateCost cost = cost_of(picture);
  cost.literal_bits.fill(3);  // nine bits for a word
  MissedMatches missed;
  missed.start();
  missed.add(picture, {}, cost);
  EXPECT_FALSE(missed.too_many(false));
}

TEST(MissedMatches, WeighsOneBlockLessWhileOthersAreToCome) {
  // A thirtieth of the literals could go.
  Bytes mixed = random_bytes(100'000, 4);
  for (std::size_t at = 100; at < mixed.size(); at += 240) {
    std::copy_n(mixed.begin(), 8, mixed.begin() + static_cast<std::ptrdiff_t>(at));
  }
  MissedMatches missed;
  missed.start();
  missed.add(mixed, {}, cost_of(mixed));
  EXPECT_FALSE(missed.too_many(true));
  EXPECT_TRUE(missed.too_many(false));
  for (unsigned i = 0; i < 2; ++i) {
    Bytes const noise = random_bytes(100'000, 5 + i);
    missed.add(noise, {}, cost_of(noise));
  }
  EXPECT_FALSE(missed.too_many(false));
}

TEST(MissedMatches, TakesBlocksOfAnySize) {
  MissedMatches missed;
  for (std::size_t size = 0; size < 300; ++size) {
    Bytes bytes(size, std::byte{1});
    bytes.shrink_to_fit();
    missed.start();
    missed.add(bytes, {}, cost_of(bytes));
    EXPECT_EQ(missed.too_many(false), size >= 67) << size;  // 32 bytes at either end are not looked at
  }
}

}  // namespace
}  // namespace terrazzo::codec
