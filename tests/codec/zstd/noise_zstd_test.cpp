// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/noise_zstd.hpp"

#if TERRAZZO_HAVE_ZSTD

#include "codec/noise_samples.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using testing::differences;
using testing::mixture;
using testing::planes;
using testing::smooth_planes;
using Bytes = std::vector<std::byte>;
using Context = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

class NoiseZstdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NoiseZstd::available()) { GTEST_SKIP() << "this libzstd codes no sequences"; }
  }

  // The frame; empty when it was refused. Checks what it holds.
  Bytes round_trip(Bytes const& in, NoiseZstd::Settings const& settings = {}) {
    Bytes out(ZSTD_compressBound(in.size()));
    ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_and_parameters);
    out.resize(encoder_.encode(in, settings, out, context_.get()));
    if (out.empty()) { return out; }
    EXPECT_EQ(ZSTD_getFrameContentSize(out.data(), out.size()), in.size());
    Bytes back(in.size());
    EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), out.data(), out.size()), in.size());
    EXPECT_EQ(back, in);
    return out;
  }

  NoiseZstd encoder_;
  Context context_{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

std::size_t library_size(Bytes const& in, int level) {
  Bytes out(ZSTD_compressBound(in.size()));
  return ZSTD_compress(out.data(), out.size(), in.data(), in.size(), level);
}

TEST_F(NoiseZstdTest, IsAsSmallAsTheLibrarysLevel9) {
  for (Bytes const& in : {planes(512, 1), differences(1 << 20, 2)}) {
    Bytes const frame = round_trip(in);
    ASSERT_FALSE(frame.empty());
    EXPECT_LT(static_cast<double>(frame.size()), 1.008 * static_cast<double>(library_size(in, 9)));
  }
}

TEST_F(NoiseZstdTest, IsSmallerThanTheLibrarysLevel9OnSmoothPlanes) {
  Bytes const in = smooth_planes(512, 1);
  for (bool const has_planes : {false, true}) {
    Bytes const frame = round_trip(in, {.has_planes = has_planes});
    ASSERT_FALSE(frame.empty());
    EXPECT_LT(frame.size(), library_size(in, 9));
  }
}

// Half noise, half one pixel of 40 bytes again and again, whose bytes are as spread as noise.
TEST_F(NoiseZstdTest, SeesPixelsThatRepeatAmongNoise) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    constexpr std::size_t kPixel = 40, kSide = 128;
    Bytes background(kPixel), in;
    for (std::byte& byte : background) { byte = static_cast<std::byte>(random()); }
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t i = 0; i < kSide / 2 * kPixel; ++i) { in.push_back(static_cast<std::byte>(random())); }
      for (std::size_t x = 0; x < kSide / 2; ++x) { in.insert(in.end(), background.begin(), background.end()); }
    }
    Bytes const frame = round_trip(in);
    bool const is_left_to_the_library = frame.empty() || encoder_.doubt() != RepeatFinder::Doubt::none;
    EXPECT_TRUE(is_left_to_the_library ||
                static_cast<double>(frame.size()) < 1.01 * static_cast<double>(library_size(in, 9)))
        << "seed " << seed << ": " << frame.size() << " bytes";
  }
}

TEST_F(NoiseZstdTest, RoundTripsInputsOfEverySize) {
  std::mt19937 random(3);
  for (std::size_t size = 1; size < 70; ++size) { EXPECT_FALSE(round_trip(mixture(size, random)).empty()) << size; }
  for (std::size_t const size : {131'071U, 131'072U, 131'073U, 262'144U, 400'000U}) {
    EXPECT_FALSE(round_trip(mixture(size, random)).empty()) << size;
    EXPECT_FALSE(round_trip(Bytes(size)).empty()) << size;
  }
}

TEST_F(NoiseZstdTest, RoundTripsMixtures) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    Bytes const in = mixture(1 + random() % 300'000, random);
    std::size_t const shortest = round % 2 == 0 ? RepeatFinder::kShortest : RepeatFinder::kShortestInSmall;
    EXPECT_FALSE(round_trip(in, {.shortest_match = shortest, .has_planes = random() % 2 == 0}).empty());
  }
}

TEST_F(NoiseZstdTest, RoundTripsTheLargestInputAndRefusesLargerOnes) {
  Bytes in = planes(RepeatFinder::kMostBytes / 2048, 5);
  ASSERT_EQ(in.size(), RepeatFinder::kMostBytes);
  EXPECT_FALSE(round_trip(in).empty());
  in.push_back(std::byte{1});
  EXPECT_TRUE(round_trip(in).empty());
  EXPECT_TRUE(round_trip({}).empty());
}

// As many repeats as there can be: each as short as is allowed, and no literals between them.
TEST_F(NoiseZstdTest, CodesNothingButShortRepeats) {
  std::mt19937 random(6);
  std::vector<Bytes> words;
  for (int i = 0; i < 32; ++i) {
    Bytes& word = words.emplace_back(4);
    for (std::byte& b : word) { b = static_cast<std::byte>(random() % 16); }
  }
  Bytes in;
  while (in.size() < 262'144) {
    Bytes const& word = words[random() % words.size()];
    in.insert(in.end(), word.begin(), word.end());
  }
  Bytes const frame = round_trip(in, {.shortest_match = RepeatFinder::kShortestInSmall});
  EXPECT_FALSE(frame.empty());
  EXPECT_LT(frame.size(), in.size() * 3 / 10);  // literals alone would take half
}

TEST_F(NoiseZstdTest, StopsInDoubtWhenAskedTo) {
  std::mt19937 random(7);
  Bytes in(300'000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = i % 3 == 0 ? static_cast<std::byte>(random() % 48) : in[i - 1];
  }
  EXPECT_TRUE(round_trip(in, {.allowed = RepeatFinder::Doubt::none}).empty());
  EXPECT_NE(encoder_.doubt(), RepeatFinder::Doubt::none);
  EXPECT_FALSE(round_trip(in).empty());
}

TEST_F(NoiseZstdTest, GivesUpWhenTheOutputHasNoRoom) {
  Bytes const in = planes(100, 8);
  Bytes out(1000);
  EXPECT_EQ(encoder_.encode(in, {}, out, context_.get()), 0U);
  EXPECT_EQ(encoder_.encode(in, {}, {}, context_.get()), 0U);
}

TEST_F(NoiseZstdTest, GivesTheSameBytesWhateverItDidBefore) {
  Bytes const in = planes(200, 9);
  NoiseZstd fresh;
  Context const fresh_context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  Bytes first(ZSTD_compressBound(in.size()));
  first.resize(fresh.encode(in, {}, first, fresh_context.get()));
  round_trip(differences(300'000, 9), {.shortest_match = RepeatFinder::kShortestInSmall});
  EXPECT_EQ(round_trip(in), first);
}

}  // namespace
}  // namespace terrazzo::codec

#endif
