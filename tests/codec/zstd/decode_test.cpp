// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include "codec/zstd/decoder.hpp"
#include "codec/zstd_frames.hpp"
#include "tile/host/cpu.hpp"

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::zstd};
constexpr BlockShape kShape{64, 64};

TEST(Zstd, RoundTripsWithAndWithoutSizeAndChecksum) {
  Bytes const samples = picture(64, 64, 1);
  for (bool const checksum : {false, true}) {
    for (bool const with_size : {false, true}) {
      Decoded const decoded =
          decode(kFormat, kShape, make_frame(samples, {.checksum = checksum, .with_size = with_size}), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Zstd, DeliversTheFirstBytesOfALongerStream) {
  Bytes const samples = picture(64, 64, 1);
  for (bool const with_size : {false, true}) {
    Bytes const stream = make_frame(samples, {.with_size = with_size});
    for (std::size_t const wanted : {1u, 64u, 1000u, 4095u}) {
      Decoded const decoded = decode(kFormat, kShape, stream, wanted);
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
    }
  }
}

TEST(Zstd, IgnoresAndReportsBytesBehindTheFrame) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = make_frame(samples);
  stream.resize(stream.size() + 3, std::byte{0xEE});
  Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_EQ(decoded.bytes, samples);
}

TEST(Zstd, DecodesALongWindowWithoutAllocatingIt) {
  Bytes const samples = random_bytes(1 << 20, 3);
  Bytes const stream = make_frame(samples, {.level = 1, .with_size = false, .window_log = 27});
  EXPECT_EQ(decode(kFormat, {1024, 1024}, stream, samples.size()).result.status, TileStatus::ok);
  // Cut short it needs the streaming decoder, which would allocate the 128 MiB that the frame asks for.
  EXPECT_EQ(decode(kFormat, {1024, 1024}, std::span(stream).first(stream.size() / 2), samples.size()).result.status,
            TileStatus::corrupt);
}

TEST(Zstd, RefusesAWrongChecksum) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = make_frame(samples, {.checksum = true});
  stream.back() ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Zstd, CountsTheBytesOfAStreamThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, make_frame(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Zstd, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = random_bytes(300'000, 5);  // several blocks, so that some are whole in a prefix
  Bytes const stream = make_frame(samples, {.with_size = false});
  expect_prefixes_are_honest(kFormat, {1000, 300}, stream, samples, 60);
  Decoded const most = decode(kFormat, {1000, 300}, std::span(stream).first(stream.size() - 1), samples.size());
  EXPECT_EQ(most.result.status, TileStatus::truncated);
  EXPECT_GT(most.result.bytes_written, samples.size() / 2);
}

// Frames that our own decoder is for: what it does not take, whole or in part, is as libzstd has it.
TEST(Zstd, GivesFramesOfNoiseByTheSameRules) {
  constexpr BlockShape kLarge{1000, 300};
  Bytes const samples = make_samples(SampleKind::skewed, 300'000);
  for (bool const with_size : {false, true}) {
    Bytes const frame = make_frame(samples, {.with_size = with_size});
#if TERRAZZO_HAVE_X86
    EXPECT_EQ(ZstdDecoder::is_for(frame, samples.size()), tile::has_avx2());
#endif
    Decoded const whole = decode(kFormat, kLarge, frame, samples.size());
    EXPECT_EQ(whole.result.status, TileStatus::ok);
    EXPECT_FALSE(whole.result.surplus_input);
    EXPECT_EQ(whole.bytes, samples);

    Bytes surplus = frame;
    surplus.resize(surplus.size() + 3, std::byte{0xEE});
    Decoded const behind = decode(kFormat, kLarge, surplus, samples.size());
    EXPECT_EQ(behind.result.status, TileStatus::ok);
    EXPECT_TRUE(behind.result.surplus_input);
    EXPECT_EQ(behind.bytes, samples);

    Decoded const first = decode(kFormat, kLarge, frame, samples.size() - 1000);
    EXPECT_EQ(first.result.status, TileStatus::ok);
    EXPECT_TRUE(std::equal(first.bytes.begin(), first.bytes.end(), samples.begin()));

    Decoded const few = decode(kFormat, kLarge, frame, samples.size() + 1000);
    EXPECT_EQ(few.result.status, TileStatus::truncated);
    EXPECT_EQ(few.result.bytes_written, samples.size());

    Decoded const cut = decode(kFormat, kLarge, std::span(frame).first(frame.size() - 1), samples.size());
    EXPECT_EQ(cut.result.status, TileStatus::truncated);
    EXPECT_GT(cut.result.bytes_written, samples.size() / 3);
    EXPECT_TRUE(std::equal(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(cut.result.bytes_written),
                           cut.bytes.begin()));
  }
  expect_prefixes_are_honest(kFormat, kLarge, make_frame(samples), samples, 60);
  expect_survives_damage(kFormat, kLarge, make_frame(samples), samples.size());
}

TEST(Zstd, TellsAnEmptyInputFromAnEmptyBlock) {
  EXPECT_EQ(decode(kFormat, kShape, {}, 16).result.status, TileStatus::truncated);
  EXPECT_EQ(decode(kFormat, {0, 0}, make_frame({}), 0).result.status, TileStatus::ok);
}

TEST(Zstd, SurvivesDamage) { expect_survives_damage(kFormat, kShape, make_frame(picture(64, 64, 1)), 64 * 64); }

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
