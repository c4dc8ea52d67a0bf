// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/huffman.hpp"

#include "codec/support.hpp"

#include <cmath>

namespace terrazzo::codec::testing {
namespace {

using Of = LercHuffman::Of;

LercPicture picture_of(Bytes const& samples, std::uint32_t width, std::uint32_t depth = 1, unsigned type = 1) {
  return {.type = type,
          .width_px = width,
          .height_px = static_cast<std::uint32_t>(samples.size() / width / depth),
          .depth = depth,
          .samples = samples};
}

// The header of the table: version, symbols, first, end.
std::array<std::int32_t, 4> table_of(LercHuffman const& huffman, Bytes& stream) {
  stream.assign(huffman.bytes() + 16, std::byte{0xA5});
  std::byte* const end = huffman.write(stream.data());
  EXPECT_EQ(static_cast<std::size_t>(end - stream.data()), huffman.bytes());
  std::array<std::int32_t, 4> header{};
  std::memcpy(header.data(), stream.data(), sizeof header);
  return header;
}

TEST(LercHuffman, WritesAsManyBytesAsItSays) {
  for (std::uint32_t const depth : {1U, 3U}) {
    for (std::size_t const size : {2U, 3U, 60U, 6000U}) {
      for (unsigned const alphabet : {2U, 3U, 17U, 256U}) {
        Bytes samples = random_bytes(size * depth, 7);
        for (std::byte& b : samples) { b = static_cast<std::byte>(std::to_integer<unsigned>(b) % alphabet); }
        samples[0] = std::byte{0};
        samples[1] = std::byte{1};
        LercPicture const picture = picture_of(samples, static_cast<std::uint32_t>(size), depth);
        LercHuffman const huffman(picture);
        ASSERT_TRUE(huffman.possible());
        Bytes stream;
        EXPECT_EQ(table_of(huffman, stream)[0], 4);
      }
    }
  }
}

TEST(LercHuffman, EndsWithAWordOfZeros) {
  Bytes const samples = random_bytes(1000, 1);
  LercPicture const picture = picture_of(samples, 50);
  LercHuffman const huffman(picture);
  Bytes stream;
  static_cast<void>(table_of(huffman, stream));
  for (std::size_t i = 1; i <= 4; ++i) { EXPECT_EQ(stream[huffman.bytes() - i], std::byte{0}); }
}

TEST(LercHuffman, TakesDifferencesOfSlopesAndValuesOfNoise) {
  Bytes slopes(4096);
  for (std::size_t i = 0; i < slopes.size(); ++i) { slopes[i] = static_cast<std::byte>(i * 3); }
  EXPECT_EQ(LercHuffman(picture_of(slopes, 64)).of(), Of::differences);
  Bytes few = random_bytes(4096, 1);
  for (std::byte& b : few) { b &= std::byte{0x11}; }
  EXPECT_EQ(LercHuffman(picture_of(few, 64)).of(), Of::values);
}

TEST(LercHuffman, HasNoCodeForASingleSymbol) {
  Bytes const ones(64, std::byte{0});
  EXPECT_FALSE(LercHuffman(picture_of(ones, 8)).possible());
}

// Differences of a gentle wave, a whole one to a row, are around zero: the table goes round the end instead of over all
// 256.
TEST(LercHuffman, ListsSymbolsRoundTheEnd) {
  Bytes wave(4096);
  for (std::size_t i = 0; i < wave.size(); ++i) {
    wave[i] = static_cast<std::byte>(std::lround(90 - 90 * std::cos(static_cast<double>(i % 64) * 0.0982)));
  }
  LercPicture const picture = picture_of(wave, 64);
  LercHuffman const huffman(picture);
  ASSERT_EQ(huffman.of(), Of::differences);
  Bytes stream;
  auto const header = table_of(huffman, stream);
  EXPECT_GT(header[2], 200);
  EXPECT_GT(header[3], 256);
  EXPECT_LT(header[3] - header[2], 60);
}

TEST(LercHuffman, CountsValidPixelsOnly) {
  Bytes samples = random_bytes(4096, 3);
  Bytes valid(4096, std::byte{1});
  for (std::size_t i = 0; i < 2048; ++i) { valid[i] = std::byte{0}; }
  LercPicture picture = picture_of(samples, 64);
  std::size_t const all = LercHuffman(picture).bytes();
  picture.valid = valid;
  EXPECT_LT(LercHuffman(picture).bytes(), all - 1500);
}

}  // namespace
}  // namespace terrazzo::codec::testing
