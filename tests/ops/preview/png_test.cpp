// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include <libdeflate.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace terrazzo {
namespace {

struct Chunk {
  std::string name;
  std::vector<std::uint8_t> data;
};

std::uint32_t u32_at(std::vector<std::uint8_t> const& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes.at(at)) << 24 | static_cast<std::uint32_t>(bytes.at(at + 1)) << 16 |
         static_cast<std::uint32_t>(bytes.at(at + 2)) << 8 | bytes.at(at + 3);
}

// All chunks, their checksums verified.
std::vector<Chunk> chunks_of(std::vector<std::uint8_t> const& png) {
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at < png.size();) {
    std::uint32_t const length = u32_at(png, at);
    Chunk chunk;
    chunk.name.assign(png.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                      png.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    chunk.data.assign(png.begin() + static_cast<std::ptrdiff_t>(at) + 8,
                      png.begin() + static_cast<std::ptrdiff_t>(at + 8 + length));
    EXPECT_EQ(u32_at(png, at + 8 + length), libdeflate_crc32(0, png.data() + at + 4, length + 4));
    at += 12 + length;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

// Undoes the filters, by the specification's words and not by the encoder's code.
std::vector<std::uint8_t> decode(std::vector<std::uint8_t> const& png, std::uint32_t width, std::uint32_t height) {
  auto const chunks = chunks_of(png);
  std::size_t const row_bytes = std::size_t{width} * 4;
  std::vector<std::uint8_t> raw((row_bytes + 1) * height);
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  std::size_t actual = 0;
  auto const result = libdeflate_zlib_decompress(decompressor, chunks.at(1).data.data(), chunks.at(1).data.size(),
                                                 raw.data(), raw.size(), &actual);
  libdeflate_free_decompressor(decompressor);
  EXPECT_EQ(result, LIBDEFLATE_SUCCESS);
  EXPECT_EQ(actual, raw.size());
  std::vector<std::uint8_t> pixels(row_bytes * height);
  for (std::size_t y = 0; y < height; ++y) {
    std::uint8_t const filter = raw[y * (row_bytes + 1)];
    for (std::size_t i = 0; i < row_bytes; ++i) {
      int const a = i >= 4 ? pixels[y * row_bytes + i - 4] : 0;
      int const b = y > 0 ? pixels[(y - 1) * row_bytes + i] : 0;
      int const c = i >= 4 && y > 0 ? pixels[(y - 1) * row_bytes + i - 4] : 0;
      int const p = a + b - c;
      int const pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      int const nearest = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      int const guesses[] = {0, a, b, (a + b) / 2, nearest};
      pixels[y * row_bytes + i] = static_cast<std::uint8_t>(raw[y * (row_bytes + 1) + 1 + i] + guesses[filter]);
    }
  }
  return pixels;
}

// Rows that suit every filter: noise, gradients along and across, constants.
Picture varied(std::uint32_t width, std::uint32_t height) {
  Picture picture{width, height, {}};
  std::uint32_t seed = 1;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t i = 0; i < width * 4; ++i) {
      seed = seed * 1664525 + 1013904223;
      std::uint32_t const kinds[] = {seed >> 24, i * 3, y * 5, i + y, 77};
      picture.rgba.push_back(static_cast<std::uint8_t>(kinds[y / 3 % 5]));
    }
  }
  return picture;
}

TEST(EncodePng, StartsWithSignatureAndHeader) {
  auto const png = encode_png(varied(7, 3));
  EXPECT_EQ(std::string(png.begin(), png.begin() + 8), "\x89PNG\r\n\x1a\n");
  auto const chunks = chunks_of(png);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].name, "IHDR");
  EXPECT_EQ(u32_at(chunks[0].data, 0), 7U);
  EXPECT_EQ(u32_at(chunks[0].data, 4), 3U);
  EXPECT_EQ(chunks[0].data[8], 8);   // bits
  EXPECT_EQ(chunks[0].data[9], 6);   // RGBA
  EXPECT_EQ(chunks[1].name, "IDAT");
  EXPECT_EQ(chunks[2].name, "IEND");
  EXPECT_TRUE(chunks[2].data.empty());
}

TEST(EncodePng, RoundTripsPixels) {
  for (auto const& [width, height] : {std::pair{1U, 1U}, {1U, 40U}, {64U, 1U}, {33U, 45U}}) {
    Picture const picture = varied(width, height);
    EXPECT_EQ(decode(encode_png(picture), width, height), picture.rgba) << width << " x " << height;
  }
}

TEST(EncodePng, SmoothPicturesBecomeSmall) {
  Picture picture{256, 256, {}};
  for (std::uint32_t i = 0; i < 256 * 256; ++i) {
    auto const v = static_cast<std::uint8_t>((i % 256 + i / 256) / 2);
    picture.rgba.insert(picture.rgba.end(), {v, v, v, 255});
  }
  EXPECT_LT(encode_png(picture).size(), 5000U);
}

TEST(EncodePng, RefusesPixelsThatDoNotFit) {
  EXPECT_THROW((void)encode_png(Picture{2, 2, std::vector<std::uint8_t>(15)}), Error);
  EXPECT_THROW((void)encode_png(Picture{0, 2, {}}), Error);
  EXPECT_THROW((void)encode_png(Picture{0x80000000, 1, {}}), Error);
}

}  // namespace
}  // namespace terrazzo
