// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/far_repeats.hpp"

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

namespace terrazzo::codec::testing {
namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  return random_noise(size, random);
}

TEST(HasFarRepeats, IsFalseForNoiseAndForRuns) {
  for (std::size_t const size : {0U, 15U, 16U, 70'000U, 600'000U}) {
    EXPECT_FALSE(has_far_repeats(noise(size))) << size;
    EXPECT_FALSE(has_far_repeats(Bytes(size, std::byte{7}))) << size;
  }
}

TEST(HasFarRepeats, FindsCopiesAtAnyDistance) {
  for (std::size_t const distance : {40'000U, 100'001U, 262'147U, 5'000'000U}) {
    Bytes bytes = noise(distance < 300'000 ? 600'000 : 6'000'000);
    std::copy_n(bytes.begin(), bytes.size() / 10, bytes.begin() + static_cast<std::ptrdiff_t>(distance + 60'000));
    EXPECT_TRUE(has_far_repeats(bytes)) << distance;
  }
}

TEST(HasFarRepeats, FindsATileThatIsRepeated) {
  Bytes const part = noise(30'000);
  Bytes bytes;
  for (int i = 0; i < 10; ++i) { bytes.insert(bytes.end(), part.begin(), part.end()); }
  EXPECT_TRUE(has_far_repeats(bytes));
}

TEST(HasFarRepeats, OverlooksAFewCopies) {
  Bytes bytes = noise(600'000);
  std::copy_n(bytes.begin(), 1000, bytes.begin() + 300'000);
  EXPECT_FALSE(has_far_repeats(bytes));
}

}  // namespace
}  // namespace terrazzo::codec::testing
