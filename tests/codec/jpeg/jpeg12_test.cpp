// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/jpeg12.hpp"

#include "codec/jpeg12_builder.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_JPEG  // the table leads here through the jpeg codec

namespace terrazzo::codec::testing {
namespace {

using tiff::Photometric;

BlockFormat format_of(std::uint32_t samples, Photometric photometric) {
  return {.compression = tiff::Compression::jpeg,
          .samples_per_pixel = samples,
          .bits_per_sample = 12,
          .photometric = photometric};
}

std::size_t bytes_of(std::uint32_t width, std::uint32_t height, std::uint32_t samples) {
  return (std::size_t{width} * samples * 12 + 7) / 8 * height;
}

std::uint32_t sample_at(Bytes const& block, std::uint32_t width, std::uint32_t samples, std::uint32_t x,
                        std::uint32_t y, std::uint32_t s) {
  std::size_t const bit = (std::size_t{x} * samples + s) * 12;
  std::byte const* const row = block.data() + bytes_of(width, 1, samples) * y;
  auto const byte = [row](std::size_t i) { return std::to_integer<std::uint32_t>(row[i]); };
  return bit % 8 == 0 ? byte(bit / 8) << 4 | byte(bit / 8 + 1) >> 4 : (byte(bit / 8) & 15) << 8 | byte(bit / 8 + 1);
}

Jpeg12Builder gray(std::uint32_t width, std::uint32_t height) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().frame(width, height, {{}}).scan({1});
  for (std::uint32_t i = 0; i < (width + 7) / 8 * ((height + 7) / 8); ++i) {
    builder.block(0, {static_cast<int>(i) * 30 - 200, 25, -40, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9});
  }
  builder.flush().eoi();
  return builder;
}

TEST(Jpeg12, PacksTwoSamplesInThreeBytes) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().frame(8, 8, {{}}).scan({1}).block(0, {0x123 - 2048}).flush().eoi();
  Decoded const decoded = decode(format_of(1, Photometric::min_is_black), {8, 8}, builder.bytes, 12 * 8);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes[0], std::byte{0x12});
  EXPECT_EQ(decoded.bytes[1], std::byte{0x31});
  EXPECT_EQ(decoded.bytes[2], std::byte{0x23});
}

TEST(Jpeg12, PadsOddRowsWithZeros) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().frame(3, 2, {{}}).scan({1}).block(0, {2047}).flush().eoi();
  Decoded const decoded = decode(format_of(1, Photometric::min_is_black), {3, 2}, builder.bytes, 10);
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes[4], std::byte{0xF0});
  EXPECT_EQ(decoded.bytes[9], std::byte{0xF0});
}

TEST(Jpeg12, ConvertsYCbCrToRgbWhenAsked) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().frame(8, 8, {{}, {}, {}}).scan({1, 2, 3});
  builder.block(0, {0}).block(1, {100}).block(2, {-200}).flush().eoi();
  BlockFormat format = format_of(3, Photometric::ycbcr);
  Decoded const rgb = decode(format, {8, 8}, builder.bytes, bytes_of(8, 8, 3));
  ASSERT_EQ(rgb.result.status, TileStatus::ok);
  EXPECT_EQ(sample_at(rgb.bytes, 8, 3, 2, 2, 0), 2048u - 280);       // 1.402 * -200
  EXPECT_EQ(sample_at(rgb.bytes, 8, 3, 2, 2, 1), 2048u - 34 + 142);  // -0.34414 * 100 + 0.71414 * 200 = 108.4
  EXPECT_EQ(sample_at(rgb.bytes, 8, 3, 2, 2, 2), 2048u + 177);       // 1.772 * 100
  format.convert_ycbcr_to_rgb = false;
  Decoded const stored = decode(format, {8, 8}, builder.bytes, bytes_of(8, 8, 3));
  EXPECT_EQ(sample_at(stored.bytes, 8, 3, 2, 2, 1), 2148u);
}

// A step between two chroma blocks is smoothed by a quarter and three quarters; luma is where it was.
TEST(Jpeg12, InterpolatesSubsampledChroma) {
  for (std::uint32_t const v : {1u, 2u}) {
    Jpeg12Builder builder;
    builder.soi().quantiser(8).huffman().frame(32, 8 * v, {{2, v}, {}, {}}).scan({1, 2, 3});
    for (int mcu = 0; mcu < 2; ++mcu) {
      for (std::uint32_t i = 0; i < 2 * v; ++i) { builder.block(0, {0}); }
      builder.block(1, {mcu * 400}).block(2, {0});
    }
    builder.flush().eoi();
    Decoded const decoded = decode(format_of(3, Photometric::rgb), {32, 8 * v}, builder.bytes, bytes_of(32, 8 * v, 3));
    ASSERT_EQ(decoded.result.status, TileStatus::ok);
    std::uint32_t const expected[] = {2048, 2148, 2348, 2448};
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(sample_at(decoded.bytes, 32, 3, 14 + i, 3, 1), expected[i], 1);
    }
    EXPECT_EQ(sample_at(decoded.bytes, 32, 3, 15, 3, 0), 2048u);
  }
}

TEST(Jpeg12, LeavesTheRestOfALargerBlockBlack) {
  Decoded const decoded =
      decode(format_of(1, Photometric::min_is_black), {10, 9}, gray(8, 8).bytes, bytes_of(10, 9, 1));
  ASSERT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_NE(sample_at(decoded.bytes, 10, 1, 7, 7, 0), 0u);
  EXPECT_EQ(sample_at(decoded.bytes, 10, 1, 8, 7, 0), 0u);
  EXPECT_EQ(sample_at(decoded.bytes, 10, 1, 0, 8, 0), 0u);
}

TEST(Jpeg12, RefusesAStreamThatIsLargerThanTheBlock) {
  BlockFormat const format = format_of(1, Photometric::min_is_black);
  EXPECT_EQ(decode(format, {7, 8}, gray(8, 8).bytes, bytes_of(7, 8, 1)).result.status, TileStatus::corrupt);
  EXPECT_EQ(decode(format, {8, 8}, gray(8, 8).bytes, bytes_of(8, 8, 1) - 1).result.status, TileStatus::failed);
}

TEST(Jpeg12, CountsTheGoodRowsOfEveryPrefix) {
  BlockFormat const format = format_of(1, Photometric::min_is_black);
  Bytes const stream = gray(24, 40).bytes;
  Bytes const truth = decode(format, {24, 40}, stream, bytes_of(24, 40, 1)).bytes;
  expect_prefixes_are_honest(format, {24, 40}, std::span(stream).first(stream.size() - 2), truth, stream.size());
  Decoded const most = decode(format, {24, 40}, std::span(stream).first(stream.size() - 12), truth.size());
  EXPECT_EQ(most.result.status, TileStatus::truncated);
  EXPECT_GT(most.result.bytes_written, truth.size() / 2);
}

TEST(Jpeg12, SurvivesDamage) {
  expect_survives_damage(format_of(1, Photometric::min_is_black), {24, 40}, gray(24, 40).bytes, bytes_of(24, 40, 1),
                         500);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
