// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/decoders.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_ZLIB

#if TERRAZZO_HAVE_LIBDEFLATE
#include "codec/avx2_test.hpp"
#include "codec/deflate_streams.hpp"
#endif

#include <zlib.h>

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::deflate};
constexpr BlockShape kShape{64, 64};
constexpr std::size_t kAdlerBytes = 4;

Bytes compress(Bytes const& samples, int level = 6) {
  uLongf size = compressBound(static_cast<uLong>(samples.size()));
  Bytes stream(size);
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<Bytef const*>(samples.data()),
                      static_cast<uLong>(samples.size()), level),
            Z_OK);
  stream.resize(size);
  return stream;
}

TEST(Deflate, RoundTripsAtEveryLevelUnderBothNumbers) {
  Bytes const samples = picture(64, 64, 1);
  for (auto const compression : {tiff::Compression::deflate, tiff::Compression::pkzip_deflate}) {
    for (int level = 0; level <= 9; ++level) {
      Decoded const decoded = decode({.compression = compression}, kShape, compress(samples, level), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Deflate, DeliversTheFirstBytesOfALongerStream) {
  // One long match runs over every possible end, so none of them falls on a boundary of the stream.
  Bytes samples(4096, std::byte{42});
  samples[0] = std::byte{1};
  Bytes const stream = compress(samples);
  for (std::size_t const wanted : {1u, 2u, 257u, 258u, 1000u, 4095u}) {
    Decoded const decoded = decode(kFormat, kShape, stream, wanted);
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_TRUE(decoded.result.surplus_input);
    EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
  }
}

TEST(Deflate, IgnoresAndReportsBytesBehindTheStream) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.resize(stream.size() + 7, std::byte{0xEE});
  Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_EQ(decoded.bytes, samples);
}

TEST(Deflate, AcceptsAStreamWithoutItsAdler) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  for (std::size_t missing = 1; missing <= kAdlerBytes; ++missing) {
    stream.pop_back();
    Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_EQ(decoded.bytes, samples);
  }
}

TEST(Deflate, RefusesAWrongAdler) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.back() ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Deflate, CountsTheBytesOfAStreamThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Deflate, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = picture(64, 64, 1);
  Bytes const stream = compress(samples);
  expect_prefixes_are_honest(kFormat, kShape, stream, samples, stream.size());
  Decoded const half = decode(kFormat, kShape, std::span(stream).first(stream.size() / 2), samples.size());
  EXPECT_EQ(half.result.status, TileStatus::truncated);
  EXPECT_GT(half.result.bytes_written, samples.size() / 8);
}

TEST(Deflate, RefusesAPresetDictionary) {
  Bytes const stream{std::byte{0x78}, std::byte{0xBB}, std::byte{0}, std::byte{0},
                     std::byte{0},    std::byte{1},    std::byte{3}, std::byte{0}};
  EXPECT_EQ(decode(kFormat, kShape, stream, 16).result.status, TileStatus::corrupt);
}

TEST(Deflate, TellsAnEmptyInputFromAnEmptyBlock) {
  EXPECT_EQ(decode(kFormat, kShape, {}, 16).result.status, TileStatus::truncated);
  EXPECT_EQ(decode(kFormat, {0, 0}, compress({}), 0).result.status, TileStatus::ok);
}

TEST(Deflate, SurvivesDamage) { expect_survives_damage(kFormat, kShape, compress(picture(64, 64, 1)), 64 * 64); }

#if TERRAZZO_HAVE_LIBDEFLATE

// A batch of tiles that are large enough to be decoded in pairs.
class DeflateBatch : public Avx2Test {
 protected:
  static constexpr std::size_t kBytes = kLeastPairBytes;

  // What became of each stream, decoded with the others.
  std::vector<Decoded> decode_batch(std::vector<Bytes> const& streams,
                                    tiff::Compression compression = tiff::Compression::deflate) {
    std::vector<Decoded> decoded(streams.size());
    std::vector<Block> blocks(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      decoded[i].bytes.resize(kBytes);
      blocks[i] = {kShape, streams[i], decoded[i].bytes};
    }
    find_codec(compression)->decode({.compression = compression}, blocks, workspace_);
    for (std::size_t i = 0; i < streams.size(); ++i) { decoded[i].result = blocks[i].result; }
    return decoded;
  }

  Workspace workspace_;
  Bytes const samples_ = make_deflate_samples(DeflateSamples::imagery, kBytes);
  Bytes const stream_ = compress(samples_);
};

TEST_F(DeflateBatch, GivesTheBytesOfAllUnderBothNumbers) {
  for (auto const compression : {tiff::Compression::deflate, tiff::Compression::pkzip_deflate}) {
    for (std::size_t count = 0; count < 6; ++count) {
      for (Decoded const& decoded : decode_batch(std::vector<Bytes>(count, stream_), compression)) {
        EXPECT_EQ(decoded.result.status, TileStatus::ok);
        EXPECT_EQ(decoded.result.bytes_written, kBytes);
        EXPECT_FALSE(decoded.result.surplus_input);
        EXPECT_EQ(decoded.bytes, samples_);
      }
    }
  }
}

TEST_F(DeflateBatch, SaysOfABlockWhatItSaysOfTheBlockAlone) {
  Bytes longer = stream_, damaged = stream_;
  longer.push_back(std::byte{0});
  damaged.back() ^= std::byte{1};
  Bytes const cut(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(stream_.size() / 2));
  Bytes const other = compress(Bytes(kBytes, std::byte{7}));
  std::vector<Bytes> const kinds = {stream_, longer, damaged, cut, {}, other};
  for (Bytes const& first : kinds) {
    for (Bytes const& second : kinds) {
      std::vector<Bytes> const streams = {stream_, first, second, stream_};
      std::vector<Decoded> const together = decode_batch(streams);
      for (std::size_t i = 0; i < streams.size(); ++i) {
        Decoded const alone = decode(kFormat, kShape, streams[i], kBytes);
        ASSERT_EQ(together[i].result.status, alone.result.status) << i;
        EXPECT_EQ(together[i].result.bytes_written, alone.result.bytes_written);
        EXPECT_EQ(together[i].result.surplus_input, alone.result.surplus_input);
        auto const good = static_cast<std::ptrdiff_t>(alone.result.bytes_written);
        EXPECT_TRUE(std::equal(alone.bytes.begin(), alone.bytes.begin() + good, together[i].bytes.begin()));
      }
    }
  }
}

#endif

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
