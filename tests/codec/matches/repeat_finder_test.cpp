// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/repeat_finder.hpp"

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using testing::differences;
using testing::mixture;
using testing::planes;
using testing::random_noise;
using testing::rows_alike;
using testing::rows_alike_beside_noise;
using testing::smooth_planes;
using testing::sparse_bits;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kPart = std::size_t{128} << 10;

// Checks that the repeats say what `in` is, part by part, and returns the number of bytes that they cover.
std::size_t covered_bytes(Bytes const& in, std::span<Repeat const> repeats, RepeatFinder::Plan const& plan) {
  std::size_t at = 0, part_from = 0, covered = 0;
  for (Repeat const& repeat : repeats) {
    at += repeat.literals;
    if (repeat.length == 0) {
      EXPECT_EQ(at, std::min(in.size(), part_from + plan.part_bytes));
      part_from = at;
      continue;
    }
    EXPECT_GE(repeat.length, plan.shortest);
    EXPECT_GE(repeat.distance, 1U);
    EXPECT_LE(at + repeat.length, std::min(in.size(), part_from + plan.part_bytes));
    if (repeat.distance > at || at + repeat.length > in.size()) {
      ADD_FAILURE() << "a repeat at " << at << " reaches outside";
      return 0;
    }
    auto const from = in.begin() + static_cast<std::ptrdiff_t>(at);
    EXPECT_TRUE(std::equal(from, from + repeat.length, from - repeat.distance)) << "at " << at;
    at += repeat.length;
    covered += repeat.length;
  }
  EXPECT_EQ(at, in.size());
  return covered;
}

std::size_t covered_bytes(Bytes const& in, RepeatFinder::Plan const& plan = {.part_bytes = kPart}) {
  RepeatFinder finder;
  return covered_bytes(in, finder.find(in, plan), plan);
}

TEST(RepeatFinder, SaysWhatSmallInputsAre) {
  std::mt19937 random(1);
  for (std::size_t size = 1; size <= 80; ++size) {
    for (std::size_t period = 1; period <= 9; ++period) {
      Bytes const row = random_noise(period, random);
      Bytes in(size);
      for (std::size_t i = 0; i < size; ++i) { in[i] = row[i % period]; }
      covered_bytes(in);
      covered_bytes(in, {.part_bytes = kPart, .shortest = RepeatFinder::kShortestInSmall});
    }
  }
}

TEST(RepeatFinder, CoversPatternsOfAnyPeriod) {
  std::mt19937 random(2);
  for (std::size_t period = 1; period <= 9; ++period) {
    SCOPED_TRACE(period);
    Bytes const row = random_noise(period, random);
    Bytes in(300'000);
    for (std::size_t i = 0; i < in.size(); ++i) { in[i] = row[i % period]; }
    EXPECT_GT(covered_bytes(in), in.size() - 50);
  }
}

TEST(RepeatFinder, TakesARunAsOneRepeatOfEachPart) {
  Bytes const in(1'000'000, std::byte{7});
  RepeatFinder finder;
  RepeatFinder::Plan const plan{.part_bytes = kPart};
  std::span<Repeat const> const repeats = finder.find(in, plan);
  std::size_t const parts = (in.size() + kPart - 1) / kPart;
  EXPECT_LE(repeats.size(), 3 * parts);
  EXPECT_GT(covered_bytes(in, repeats, plan), in.size() - 20 * parts);
}

TEST(RepeatFinder, CoversRunsThatBeginAnywhereInOtherBytes) {
  std::mt19937 random(3);
  Bytes in = random_noise(400'000, random);
  std::size_t runs = 0;
  for (std::size_t at = 100; at + 3000 < in.size(); at += 3000 + random() % 2000) {
    std::size_t const length = 200 + random() % 2000;
    std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(at), length, static_cast<std::byte>(random() % 3));
    runs += length;
  }
  EXPECT_GT(covered_bytes(in), runs * 95 / 100);
}

TEST(RepeatFinder, FindsRepeatsThatBeginWithAHighByte) {
  Bytes const in = differences(500'000, 4);
  EXPECT_GT(covered_bytes(in), in.size() / 3);
  Bytes shifted(in.begin() + 1, in.end());
  EXPECT_GT(covered_bytes(shifted), in.size() / 3);
}

// Noisy 16-bit samples are searched by their high bytes only. Runs and other samples between them, and rows that begin
// at another byte, must still be found.
TEST(RepeatFinder, CoversWhatLiesBetweenSamplesOfNoise) {
  Bytes const samples = differences(500'000, 4);
  for (std::size_t const run : {512U, 700U, 1536U}) {
    SCOPED_TRACE(run);
    Bytes in = samples;
    std::size_t runs = 0;
    constexpr std::size_t kRowBytes = 2048;
    for (std::size_t row = 100'000; row + kRowBytes <= in.size(); row += kRowBytes) {
      std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(row + kRowBytes - run), run, std::byte{7});
      runs += run;
    }
    EXPECT_GT(covered_bytes(in), runs * 98 / 100 + (in.size() - runs) / 8);
  }
  Bytes in = samples;
  in.insert(in.begin() + 300'001, std::byte{9});
  EXPECT_GT(covered_bytes(in) + 3 * RepeatFinder::kChunkBytes, covered_bytes(samples));
  in.insert(in.begin() + 400'000, samples.begin(), samples.begin() + 50'000);
  EXPECT_GT(covered_bytes(in), covered_bytes(samples) + 48'000);
}

TEST(RepeatFinder, FindsRowsOfNoiseThatRepeatWhateverTheirLength) {
  for (std::size_t const row_bytes : {1000U, 4096U, 4097U, 90'001U}) {
    SCOPED_TRACE(row_bytes);
    std::mt19937 random(5);
    Bytes const row = random_noise(row_bytes, random);
    Bytes in;
    while (in.size() < 500'000) { in.insert(in.end(), row.begin(), row.end()); }
    EXPECT_GT(covered_bytes(in), (in.size() - row_bytes) * 98 / 100);
  }
}

TEST(RepeatFinder, HasNoDoubtAboutPlanesAndDifferences) {
  RepeatFinder finder;
  for (Bytes const& in : {planes(512, 6), smooth_planes(512, 6), differences(500'000, 6)}) {
    EXPECT_FALSE(finder.find(in, {.part_bytes = kPart, .allowed = RepeatFinder::Doubt::none}).empty());
    EXPECT_EQ(finder.doubt(), RepeatFinder::Doubt::none);
  }
}

// Of bytes of 1.3 bits the last place with the same five is seldom the one that has most in common.
TEST(RepeatFinder, FindsLongRepeatsWhereBytesSayLittle) {
  Bytes const in = smooth_planes(512, 12);
  RepeatFinder finder;
  for (bool const has_planes : {false, true}) {
    RepeatFinder::Plan const plan{.part_bytes = kPart, .has_planes = has_planes};
    std::size_t count = 0, bytes = 0;
    for (Repeat const& repeat : finder.find(in, plan)) {
      if (repeat.length == 0 || repeat.distance == 1) { continue; }  // the end of a part, or a run
      ++count;
      bytes += repeat.length;
    }
    EXPECT_GT(bytes, 9 * count);
    EXPECT_GT(bytes, in.size() / 5);
    covered_bytes(in, finder.find(in, plan), plan);
  }
}

// Three equal bytes a pixel: every byte but the first of three follows from the one before.
TEST(RepeatFinder, DoubtsWhatOnlyLooksLikeNoise) {
  std::mt19937 random(7);
  Bytes in(600'000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = i % 3 == 0 ? static_cast<std::byte>(random() % 48) : in[i - 1];
  }
  RepeatFinder finder;
  EXPECT_TRUE(finder.find(in, {.part_bytes = kPart, .allowed = RepeatFinder::Doubt::none}).empty());
  EXPECT_NE(finder.doubt(), RepeatFinder::Doubt::none);
  EXPECT_FALSE(finder.find(in, {.part_bytes = kPart}).empty());
}

// What to copy from matters, and one or two candidates do not say.
TEST(RepeatFinder, DoubtsStructureWithLongRepeats) {
  Bytes const in = sparse_bits(500, 8);
  RepeatFinder finder;
  for (std::size_t const shortest : {RepeatFinder::kShortest, RepeatFinder::kShortestInSmall}) {
    EXPECT_FALSE(finder.find(in, {.part_bytes = kPart, .shortest = shortest}).empty());
    EXPECT_NE(finder.doubt(), RepeatFinder::Doubt::none);
  }
}

TEST(RepeatFinder, DoubtsRowsThatResembleTheOneAbove) {
  RepeatFinder finder;
  for (Bytes const& in : {rows_alike(512, 3), rows_alike_beside_noise(1024, 4)}) {
    EXPECT_FALSE(finder.find(in, {.part_bytes = kPart}).empty());
    EXPECT_EQ(finder.doubt(), RepeatFinder::Doubt::great);
  }
}

TEST(RepeatFinder, FindsTheSameWhateverItDidBefore) {
  Bytes const in = planes(400, 9), other = differences(700'000, 9);
  RepeatFinder fresh, used;
  RepeatFinder::Plan const plan{.part_bytes = kPart};
  std::span<Repeat const> const first = fresh.find(in, plan);
  EXPECT_FALSE(used.find(other, {.part_bytes = kPart, .shortest = RepeatFinder::kShortestInSmall}).empty());
  std::span<Repeat const> const second = used.find(in, plan);
  EXPECT_TRUE(std::ranges::equal(first, second, [](Repeat const& a, Repeat const& b) {
    return a.literals == b.literals && a.length == b.length && a.distance == b.distance;
  }));
}

TEST(RepeatFinder, SaysWhatMixturesAre) {
  std::mt19937 random(10);
  RepeatFinder finder;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    Bytes const in = mixture(1 + random() % 300'000, random);
    RepeatFinder::Plan const plan{
        .part_bytes = RepeatFinder::kChunkBytes * (1 + random() % 16),
        .shortest = random() % 2 == 0 ? RepeatFinder::kShortest : RepeatFinder::kShortestInSmall,
        .has_planes = random() % 2 == 0};
    covered_bytes(in, finder.find(in, plan), plan);
  }
}

TEST(RepeatFinder, TakesTheLargestInput) {
  Bytes in = differences(RepeatFinder::kMostBytes / 2, 11);
  ASSERT_EQ(in.size(), RepeatFinder::kMostBytes);
  EXPECT_GT(covered_bytes(in), in.size() / 2);
}

}  // namespace
}  // namespace terrazzo::codec
