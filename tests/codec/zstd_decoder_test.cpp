// SPDX-License-Identifier: Apache-2.0
#include "codec/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include "codec/zstd_decoder.hpp"
#include "codec/zstd_frames.hpp"
#include "tile/cpu.hpp"

namespace terrazzo::codec::testing {
namespace {

class ZstdDecoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if TERRAZZO_HAVE_X86
    if (!tile::has_avx2()) { GTEST_SKIP() << "no AVX2 here"; }
#else
    GTEST_SKIP() << "not for this architecture";
#endif
  }

  // Into memory of the exact size, from memory of the exact size.
  bool decode(std::span<std::byte const> frame, Bytes& out) {
    auto const exact = std::make_unique<std::byte[]>(frame.size());
    std::ranges::copy(frame, exact.get());
    std::ranges::fill(out, std::byte{0xA5});
    return decoder_->decode({exact.get(), frame.size()}, out);
  }

  // What it takes, it takes as libzstd does.
  bool expect_as_libzstd(std::span<std::byte const> frame, std::size_t bytes) {
    Bytes ours(bytes), theirs(bytes);
    if (!decode(frame, ours)) { return false; }
    EXPECT_EQ(ZSTD_decompress(theirs.data(), theirs.size(), frame.data(), frame.size()), bytes);
    EXPECT_EQ(ours, theirs);
    return true;
  }

  std::unique_ptr<ZstdDecoder> decoder_ = std::make_unique<ZstdDecoder>();
};

TEST_F(ZstdDecoderTest, TakesFramesOfEveryKind) {
  for (SampleKind const kind : kSampleKinds) {
    for (int const level : {-5, 1, 3, 9, 19}) {
      for (std::size_t const size : {1u, 7u, 100u, 1000u, 20'000u, 131'072u, 131'073u, 600'000u}) {
        for (std::size_t const block_bytes : {0u, 5000u}) {
          SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " level " << level << " size " << size);
          Bytes const samples = make_samples(kind, size);
          Bytes const frame =
              make_frame(samples, {.level = level, .with_size = block_bytes == 0, .block_bytes = block_bytes});
          Bytes out(size);
          ASSERT_TRUE(decode(frame, out));
          ASSERT_EQ(out, samples);
        }
      }
    }
  }
}

// Matches at every distance and of many lengths, over themselves and far back, up to the last byte of the output.
TEST_F(ZstdDecoderTest, CopiesMatchesOfEveryDistanceAndLength) {
  for (std::size_t distance = 1; distance < 70; ++distance) {
    for (std::size_t const length : {3u, 4u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 1000u}) {
      Bytes samples = random_bytes(distance + 300, static_cast<std::uint32_t>(distance));
      for (std::size_t i = 0; i < length; ++i) { samples.push_back(samples[samples.size() - distance]); }
      Bytes const tail = random_bytes(distance % 5, 7);
      samples.insert(samples.end(), tail.begin(), tail.end());
      Bytes out(samples.size());
      ASSERT_TRUE(decode(make_frame(samples, {.level = 19}), out));
      ASSERT_EQ(out, samples) << distance << " " << length;
    }
  }
}

TEST_F(ZstdDecoderTest, KeepsTheTableOfLiteralsForBlocksThatTellNone) {
  // Blocks of one distribution: libzstd tells its table once.
  Bytes const samples = make_samples(SampleKind::skewed, 60'000);
  Bytes const frame = make_frame(samples, {.level = 5, .block_bytes = 2000});
  Bytes out(samples.size());
  ASSERT_TRUE(decode(frame, out));
  EXPECT_EQ(out, samples);
}

TEST_F(ZstdDecoderTest, StartsAnewWithEveryFrame) {
  Bytes const samples = make_samples(SampleKind::floats, 300'000), others = make_samples(SampleKind::text, 5000);
  Bytes out(samples.size()), other_out(others.size());
  Bytes const frame = make_frame(samples), other = make_frame(others);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(decode(frame, out));
    EXPECT_EQ(out, samples);
    EXPECT_FALSE(decode(std::span(frame).first(frame.size() / 2), out));
    ASSERT_TRUE(decode(other, other_out));
    EXPECT_EQ(other_out, others);
  }
}

TEST_F(ZstdDecoderTest, LeavesOtherFramesAlone) {
  Bytes const samples = make_samples(SampleKind::floats, 200'000);
  Bytes const frame = make_frame(samples);
  Bytes out(samples.size()), shorter(samples.size() - 1), longer(samples.size() + 1);
  EXPECT_FALSE(decode({}, out));
  EXPECT_FALSE(decode(make_frame(samples, {.checksum = true}), out));
  EXPECT_FALSE(decode(frame, shorter));
  EXPECT_FALSE(decode(frame, longer));
  Bytes const unsized = make_frame(samples, {.with_size = false, .block_bytes = 100'000});
  EXPECT_TRUE(decode(unsized, out));
  EXPECT_FALSE(decode(unsized, shorter));
  EXPECT_FALSE(decode(unsized, longer));
  Bytes surplus = frame;
  surplus.push_back(std::byte{0});
  EXPECT_FALSE(decode(surplus, out));
}

TEST_F(ZstdDecoderTest, TakesNoPrefixOfAFrame) {
  for (SampleKind const kind : kSampleKinds) {
    Bytes const samples = make_samples(kind, 9000);
    Bytes const frame = make_frame(samples, {.level = 6, .with_size = false, .block_bytes = 3000});
    Bytes out(samples.size());
    for (std::size_t bytes = 0; bytes < frame.size(); bytes += 1 + bytes / 100) {
      EXPECT_FALSE(decode(std::span(frame).first(bytes), out)) << bytes;
    }
  }
}

TEST_F(ZstdDecoderTest, TakesDamagedFramesOnlyAsLibzstdDoes) {
  std::mt19937 generator(11);
  int taken = 0;
  for (SampleKind const kind : kSampleKinds) {
    Bytes const samples = make_samples(kind, 6000);
    Bytes const frame = make_frame(samples, {.level = 9, .block_bytes = 2500});
    for (int i = 0; i < 3000; ++i) {
      Bytes damaged = frame;
      for (int flips = 0; flips < 1 + i % 3; ++flips) {
        damaged[generator() % damaged.size()] ^= static_cast<std::byte>(1U << generator() % 8);
      }
      taken += expect_as_libzstd(damaged, samples.size()) ? 1 : 0;
    }
  }
  EXPECT_GT(taken, 100);  // literals that differ make a frame as good as any
}

TEST_F(ZstdDecoderTest, IsForNoiseAndNotForShortCodesOrCopies) {
  auto const is_for = [](SampleKind kind, std::size_t bytes, FrameOptions options = {}) {
    return ZstdDecoder::is_for(make_frame(make_samples(kind, bytes), options), bytes);
  };
  EXPECT_TRUE(is_for(SampleKind::skewed, 300'000));
  EXPECT_FALSE(is_for(SampleKind::skewed, 100'000));  // one block
  EXPECT_FALSE(is_for(SampleKind::skewed, 300'000, {.checksum = true}));
  EXPECT_FALSE(is_for(SampleKind::text, 300'000));
  EXPECT_FALSE(is_for(SampleKind::runs, 300'000));
  EXPECT_FALSE(is_for(SampleKind::zeros, 300'000));
  EXPECT_FALSE(is_for(SampleKind::noise, 300'000));  // stored
  Bytes const frame = make_frame(make_samples(SampleKind::skewed, 300'000));
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    EXPECT_FALSE(ZstdDecoder::is_for(std::span(frame).first(bytes), 300'000));
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
