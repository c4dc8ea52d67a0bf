// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_LZMA

#include <lzma.h>

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::lzma};
constexpr BlockShape kShape{64, 64};

Bytes compress(Bytes const& samples, std::uint32_t preset = 6, lzma_check check = LZMA_CHECK_CRC32) {
  Bytes stream(lzma_stream_buffer_bound(samples.size()));
  std::size_t size = 0;
  EXPECT_EQ(
      lzma_easy_buffer_encode(preset, check, nullptr, reinterpret_cast<std::uint8_t const*>(samples.data()),
                              samples.size(), reinterpret_cast<std::uint8_t*>(stream.data()), &size, stream.size()),
      LZMA_OK);
  stream.resize(size);
  return stream;
}

TEST(Lzma, RoundTripsTheLowestAndTheHighestPreset) {
  Bytes const samples = picture(64, 64, 1);
  for (std::uint32_t const preset : {0u, 6u, 9u}) {
    for (auto const check : {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64}) {
      Decoded const decoded = decode(kFormat, kShape, compress(samples, preset, check), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Lzma, DeliversTheFirstBytesOfALongerStream) {
  Bytes const samples = picture(64, 64, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 1000);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
}

TEST(Lzma, IgnoresAndReportsBytesBehindTheStream) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.resize(stream.size() + 3, std::byte{0xEE});
  Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
}

TEST(Lzma, RefusesAWrongCheck) {
  Bytes const samples = random_bytes(4096, 1);  // stored as it is, so that only the check can notice
  Bytes stream = compress(samples);
  stream[stream.size() / 2] ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Lzma, RefusesADictionaryOfAGibibyte) {
  // Written into the block header of a small stream: encoding such a one would allocate the dictionary here.
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  constexpr std::size_t kBlockHeaderAt = 12;  // behind the stream header of .xz
  constexpr std::byte kFilterLzma2[] = {std::byte{0x21}, std::byte{0x01}};  // its number, one byte of properties
  auto const filter =
      std::search(stream.begin() + kBlockHeaderAt, stream.end(), std::begin(kFilterLzma2), std::end(kFilterLzma2));
  ASSERT_NE(filter, stream.end());
  filter[2] = std::byte{36};  // 2 << (36 / 2 + 11)
  std::size_t const crc_at = kBlockHeaderAt + std::to_integer<std::size_t>(stream[kBlockHeaderAt]) * 4;
  std::uint32_t const crc =
      lzma_crc32(reinterpret_cast<std::uint8_t const*>(stream.data()) + kBlockHeaderAt, crc_at - kBlockHeaderAt, 0);
  std::memcpy(stream.data() + crc_at, &crc, sizeof crc);
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::unsupported);
}

TEST(Lzma, CountsTheBytesOfAStreamThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Lzma, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = picture(64, 64, 1);
  Bytes const stream = compress(samples);
  expect_prefixes_are_honest(kFormat, kShape, stream, samples, stream.size());
  Decoded const cut = decode(kFormat, kShape, std::span(stream).first(40), samples.size());
  EXPECT_EQ(cut.result.status, TileStatus::truncated);
}

TEST(Lzma, SurvivesDamage) { expect_survives_damage(kFormat, kShape, compress(picture(64, 64, 1)), 64 * 64); }

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
