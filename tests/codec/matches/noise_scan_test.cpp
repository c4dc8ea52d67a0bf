// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/noise_scan.hpp"

#include "codec/matches/noise.hpp"
#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using testing::bytes_of;
using Bytes = std::vector<std::byte>;

TEST(NoiseScan, TellsNoiseFromStructure) {
  std::mt19937 random(1);
  auto const is = [&](auto const& make) { return is_noise(bytes_of(kNoiseSegmentBytes, make).data()); };
  EXPECT_TRUE(is([&](std::size_t) { return random(); }));
  EXPECT_TRUE(is([&](std::size_t) { return random() % 64; }));
  EXPECT_FALSE(is([&](std::size_t) { return random() % 8; }));
  EXPECT_FALSE(is([](std::size_t) { return 0; }));
  EXPECT_FALSE(is([](std::size_t i) { return i / 4; }));
  // Every other byte: a full set of values in any order is as even as can be.
  EXPECT_TRUE(is([](std::size_t i) { return i % 2 == 0 ? i / 2 * 77 : 0; }));
  EXPECT_TRUE(is([](std::size_t i) { return i % 2 == 1 ? i / 2 * 77 : 0; }));
  EXPECT_FALSE(is([](std::size_t i) { return i % 2 == 0 ? i / 2 * 77 % 64 : 0; }));
}

TEST(NoiseScan, SeesPixelsThatAreTheSameAsTheLast) {
  Bytes const colours = bytes_of(256, [](std::size_t i) { return i * 77; });
  for (std::size_t const pixel_bytes : {2U, 3U, 4U, 8U}) {
    auto const flat = [&](std::size_t i) { return colours[i / 64 * 16 + i % pixel_bytes]; };
    EXPECT_FALSE(is_noise(bytes_of(kNoiseSegmentBytes, flat).data())) << pixel_bytes;
  }
}

TEST(NoiseScan, GivesTheSameWithVectorsAndWithout) {
  std::mt19937 random(2);
  for (unsigned values = 1; values <= 256; ++values) {
    Bytes const bytes = bytes_of(kNoiseSegmentBytes + 16, [&](std::size_t) { return random() % values; });
    NearRepeats const fast = near_repeats(bytes.data()), scalar = near_repeats_scalar(bytes.data());
    ASSERT_EQ(fast.even, scalar.even);
    ASSERT_EQ(fast.odd, scalar.odd);
    for (std::size_t at = 0; at + kProbedBytes < bytes.size(); ++at) {
      ASSERT_EQ(probe_places(bytes.data() + at), probe_places_scalar(bytes.data() + at));
    }
  }
}

TEST(NoiseScan, CountsAllOfASegmentOfOneValue) {
  Bytes const bytes(kNoiseSegmentBytes, std::byte{9});
  NearRepeats const repeats = near_repeats(bytes.data());
  EXPECT_EQ(repeats.even, 992U);
  EXPECT_EQ(repeats.odd, 992U);
}

TEST(NoiseScan, ProbesOneIn64PlacesOfNoiseAndTheSameInEveryCopy) {
  std::mt19937 random(3);
  Bytes const bytes = bytes_of(100'001, [&](std::size_t) { return random(); });
  Bytes chosen;
  for (std::size_t at = 0; at + kProbedBytes < bytes.size(); at += kProbedBytes) {
    for (std::size_t i = 0; i < kProbedBytes; ++i) {
      chosen.push_back(static_cast<std::byte>(probe_places(bytes.data() + at) >> i & 1U));
    }
  }
  auto const count = static_cast<double>(std::count(chosen.begin(), chosen.end(), std::byte{1}));
  EXPECT_NEAR(count, static_cast<double>(chosen.size()) / 64, 200);
  for (std::size_t at = 3; at + 2 * kProbedBytes < chosen.size(); at += 5) {
    ASSERT_EQ(probe_places(bytes.data() + at) & 1U, std::to_integer<std::uint32_t>(chosen[at]));
  }
  EXPECT_EQ(probe_places(Bytes(17).data()), 0U);
}

}  // namespace
}  // namespace terrazzo::codec
