// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include "codec/avx2_test.hpp"
#include "codec/zstd/decoder.hpp"
#include "codec/zstd_frames.hpp"
#include "coding/zstd/frame.hpp"

namespace terrazzo::codec::testing {
namespace {

class ZstdDecoderTest : public Avx2Test {
 protected:
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
        if (level == 19 && size > 140'000) { continue; }  // it takes its time
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

// A frame of one segment, block by block.
class FrameBuilder {
 public:
  explicit FrameBuilder(std::size_t content_bytes) { put(0xFD2FB528, 4).put(0xA0, 1).put(content_bytes, 4); }

  FrameBuilder& put(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) { frame_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF)); }
    return *this;
  }
  FrameBuilder& raw(std::size_t bytes, bool is_last) {
    put(bytes << 3 | (is_last ? 1 : 0), 3);
    frame_.resize(frame_.size() + bytes, std::byte{'r'});
    return *this;
  }
  FrameBuilder& compressed(Bytes const& content) {
    put(content.size() << 3 | 2 << 1 | 1, 3);
    frame_.insert(frame_.end(), content.begin(), content.end());
    return *this;
  }
  [[nodiscard]] Bytes const& frame() const { return frame_; }

 private:
  Bytes frame_;
};

// Bytes before a block, so that the window allows for its size.
constexpr std::size_t kBefore = 100;

// Literals as they are, then whatever tells the sequences.
Bytes with_literals(Bytes const& literals, Bytes const& sequences) {
  std::size_t const head = 0U | 3U << 2 | literals.size() << 4;
  Bytes content = bytes_of({static_cast<unsigned>(head & 0xFF), static_cast<unsigned>(head >> 8 & 0xFF),
                            static_cast<unsigned>(head >> 16 & 0xFF)});
  content.insert(content.end(), literals.begin(), literals.end());
  content.insert(content.end(), sequences.begin(), sequences.end());
  return content;
}

TEST_F(ZstdDecoderTest, TakesCountsOfSequencesOfThreeBytes) {
  // One literal and three bytes like it, without a bit to tell: four of each literal.
  constexpr std::size_t kCount = 0x7F00 + 0x0017;
  Bytes const literals = random_bytes(kCount, 5);
  Bytes const block = with_literals(literals, bytes_of({255, 0x17, 0x00, 0b0101'0100, 1, 0, 0, 1}));
  Bytes out(4 * kCount);
  ASSERT_TRUE(decode(FrameBuilder(out.size()).compressed(block).frame(), out));
  for (std::size_t i = 0; i < out.size(); ++i) { ASSERT_EQ(out[i], literals[i / 4]) << i; }
  EXPECT_TRUE(expect_as_libzstd(FrameBuilder(out.size()).compressed(block).frame(), out.size()));
}

TEST_F(ZstdDecoderTest, TakesNoTableOfTheFrameBefore) {
  Bytes const literals = random_bytes(5, 1);
  Bytes out(kBefore + 8);
  Bytes const told = with_literals(literals, bytes_of({1, 0b0101'0100, 5, 0, 0, 1}));
  Bytes const repeated = with_literals(literals, bytes_of({1, 0b1111'1100, 1}));
  ASSERT_TRUE(decode(FrameBuilder(out.size()).raw(kBefore, false).compressed(told).frame(), out));
  EXPECT_FALSE(decode(FrameBuilder(out.size()).raw(kBefore, false).compressed(repeated).frame(), out));

  // The second block of a frame, short enough to use the first one's code of literals, as a frame of its own.
  constexpr std::size_t kFirst = 4000, kSecond = 600;
  Bytes samples = random_bytes(kFirst + kSecond, 3);
  for (std::byte& sample : samples) { sample &= std::byte{63}; }  // so that the first has all of the second's
  Bytes const frame = make_frame(samples, {.block_bytes = kFirst});
  std::size_t at = coding::plain_zstd_frame_start(frame.data(), frame.size(), kFirst + kSecond).bytes;
  auto const block_bytes = [&] {
    return static_cast<std::size_t>(coding::zstd_detail::number(frame.data(), at, 3) >> 3);
  };
  at += 3 + block_bytes();
  auto const second_begin = frame.begin() + static_cast<std::ptrdiff_t>(at + 3);
  Bytes const second(second_begin, second_begin + static_cast<std::ptrdiff_t>(block_bytes()));
  ASSERT_EQ(std::to_integer<unsigned>(second[0]) & 3U, 3U);
  Bytes whole(kFirst + kSecond), alone(kSecond);
  ASSERT_TRUE(decode(frame, whole));
  EXPECT_FALSE(decode(FrameBuilder(kSecond).compressed(second).frame(), alone));
}

TEST_F(ZstdDecoderTest, TakesNoBlockThatIsLargerThanABlockMayBe) {
  constexpr std::size_t kMost = 128 * 1024;
  Bytes most(kMost + 10), more(kMost + 1);
  EXPECT_TRUE(decode(FrameBuilder(most.size()).raw(10, false).raw(kMost, true).frame(), most));
  EXPECT_FALSE(decode(FrameBuilder(more.size()).raw(kMost + 1, true).frame(), more));
  // Literals of one byte: 200,000 of them, and 100,000 with a match of 65,539.
  auto const repeated = [](unsigned literals, Bytes const& sequences) {
    unsigned const head = 1U | 3U << 2 | literals << 4;
    Bytes content = bytes_of({head & 0xFF, head >> 8 & 0xFF, head >> 16 & 0xFF, 'x'});
    content.insert(content.end(), sequences.begin(), sequences.end());
    return content;
  };
  Bytes large(200'000), sum(165'539);
  EXPECT_FALSE(decode(FrameBuilder(large.size()).compressed(repeated(200'000, bytes_of({0}))).frame(), large));
  Bytes const long_match = bytes_of({1, 0b0101'0100, 1, 0, 52, 0, 0, 1});
  EXPECT_FALSE(decode(FrameBuilder(sum.size()).compressed(repeated(100'000, long_match)).frame(), sum));
  Bytes fits(95'539);
  EXPECT_TRUE(decode(FrameBuilder(fits.size()).compressed(repeated(30'000, long_match)).frame(), fits));
}

TEST_F(ZstdDecoderTest, LeavesToLibzstdWhatIsOdd) {
  Bytes const literals = random_bytes(5, 1);
  Bytes out(kBefore + literals.size());
  auto const takes = [&](Bytes const& sequences) {
    return decode(FrameBuilder(out.size()).raw(kBefore, false).compressed(with_literals(literals, sequences)).frame(),
                  out);
  };
  EXPECT_TRUE(takes(bytes_of({0})));
  EXPECT_FALSE(takes(bytes_of({0, 0})));    // a byte behind
  EXPECT_FALSE(takes(bytes_of({128, 0})));  // no sequences, in two bytes
}

TEST_F(ZstdDecoderTest, TakesLongLiteralsAndLongMatchesFarBack) {
  Bytes samples;
  for (std::uint32_t i = 0; i < 6; ++i) {
    Bytes const fresh = random_bytes(33'000 + i, i);
    samples.insert(samples.end(), fresh.begin(), fresh.end());
    Bytes const copy(samples.end() - 33'000, samples.end());
    samples.insert(samples.end(), copy.begin(), copy.end());
  }
  for (int const level : {3, 19}) {
    Bytes out(samples.size());
    ASSERT_TRUE(decode(make_frame(samples, {.level = level}), out));
    EXPECT_EQ(out, samples);
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
