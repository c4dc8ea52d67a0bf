// SPDX-License-Identifier: Apache-2.0
#include "codec/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::zstd};
constexpr BlockShape kShape{64, 64};

struct Options {
  int level = 3;
  bool checksum = false;
  bool with_size = true;  // libtiff writes frames without it
  int window_log = 0;
};

Bytes compress(Bytes const& samples, Options options = {}) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, options.with_size ? 1 : 0);
  if (options.window_log != 0) { ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, options.window_log); }
  Bytes stream(ZSTD_compressBound(samples.size()));
  ZSTD_outBuffer out{stream.data(), stream.size(), 0};
  // In two pieces, so that the library cannot know the size and shrink the window.
  ZSTD_inBuffer in{samples.data(), options.with_size ? samples.size() : samples.size() / 2, 0};
  if (!options.with_size) { ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue); }
  in.size = samples.size();
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  stream.resize(out.pos);
  return stream;
}

TEST(Zstd, RoundTripsWithAndWithoutSizeAndChecksum) {
  Bytes const samples = picture(64, 64, 1);
  for (bool const checksum : {false, true}) {
    for (bool const with_size : {false, true}) {
      Decoded const decoded =
          decode(kFormat, kShape, compress(samples, {.checksum = checksum, .with_size = with_size}), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Zstd, DeliversTheFirstBytesOfALongerStream) {
  Bytes const samples = picture(64, 64, 1);
  for (bool const with_size : {false, true}) {
    Bytes const stream = compress(samples, {.with_size = with_size});
    for (std::size_t const wanted : {1u, 64u, 1000u, 4095u}) {
      Decoded const decoded = decode(kFormat, kShape, stream, wanted);
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
    }
  }
}

TEST(Zstd, IgnoresAndReportsBytesBehindTheFrame) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.resize(stream.size() + 3, std::byte{0xEE});
  Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_EQ(decoded.bytes, samples);
}

TEST(Zstd, DecodesALongWindowWithoutAllocatingIt) {
  Bytes const samples = random_bytes(1 << 20, 3);
  Bytes const stream = compress(samples, {.level = 1, .with_size = false, .window_log = 27});
  EXPECT_EQ(decode(kFormat, {1024, 1024}, stream, samples.size()).result.status, TileStatus::ok);
  // Cut short it needs the streaming decoder, which would allocate the 128 MiB that the frame asks for.
  EXPECT_EQ(decode(kFormat, {1024, 1024}, std::span(stream).first(stream.size() / 2), samples.size()).result.status,
            TileStatus::corrupt);
}

TEST(Zstd, RefusesAWrongChecksum) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples, {.checksum = true});
  stream.back() ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Zstd, CountsTheBytesOfAStreamThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Zstd, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = random_bytes(300'000, 5);  // several blocks, so that some are whole in a prefix
  Bytes const stream = compress(samples, {.with_size = false});
  expect_prefixes_are_honest(kFormat, {1000, 300}, stream, samples, 60);
  Decoded const most = decode(kFormat, {1000, 300}, std::span(stream).first(stream.size() - 1), samples.size());
  EXPECT_EQ(most.result.status, TileStatus::truncated);
  EXPECT_GT(most.result.bytes_written, samples.size() / 2);
}

TEST(Zstd, TellsAnEmptyInputFromAnEmptyBlock) {
  EXPECT_EQ(decode(kFormat, kShape, {}, 16).result.status, TileStatus::truncated);
  EXPECT_EQ(decode(kFormat, {0, 0}, compress({}), 0).result.status, TileStatus::ok);
}

TEST(Zstd, SurvivesDamage) { expect_survives_damage(kFormat, kShape, compress(picture(64, 64, 1)), 64 * 64); }

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
