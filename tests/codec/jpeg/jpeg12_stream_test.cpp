// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/jpeg12_stream.hpp"

#include "codec/jpeg12_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace terrazzo::codec::testing {
namespace {

constexpr Jpeg12Limits kGray{.width = 64, .height = 64, .components = 1};

Jpeg12Builder header(std::uint32_t width, std::uint32_t height, std::vector<Jpeg12Component> const& components,
                     std::uint32_t step = 8) {
  Jpeg12Builder builder;
  builder.soi().quantiser(step).huffman().frame(width, height, components);
  return builder;
}

TEST(Jpeg12Stream, DecodesFlatBlocks) {
  Jpeg12Builder builder = header(16, 8, {{}});
  builder.scan({1}).block(0, {100}).block(0, {-50}).flush().eoi();
  Jpeg12Stream stream(kGray);
  ASSERT_EQ(stream.read(builder.bytes, true), Jpeg12Trouble::none);
  EXPECT_EQ(stream.planes[0].row(0)[0], 2048 + 100);  // a step of 8 undoes the DCT's own eighth
  EXPECT_EQ(stream.planes[0].row(7)[15], 2048 - 50);
}

TEST(Jpeg12Stream, TransformsLikeTheTextbook) {
  std::mt19937 generator(3);
  Coefficients coefficients{};
  for (std::size_t i = 0; i < 64; ++i) { coefficients[i] = static_cast<int>(generator() % 401) - 200; }
  Jpeg12Builder builder = header(8, 8, {{}}, 1);
  builder.scan({1}).block(0, coefficients).flush().eoi();
  Jpeg12Stream stream(kGray);
  ASSERT_EQ(stream.read(builder.bytes, true), Jpeg12Trouble::none);
  // The zigzag walked anew, so that an error in the decoder's table shows.
  std::array<std::array<int, 8>, 8> grid{};
  int x = 0, y = 0, direction = 1;
  for (int const value : coefficients) {
    grid[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = value;
    if (direction > 0 ? (x == 7 || y == 0) : (y == 7 || x == 0)) {
      bool const right = direction > 0 ? x < 7 : y == 7;
      right ? ++x : ++y;
      direction = -direction;
    } else {
      x += direction;
      y -= direction;
    }
  }
  for (int py = 0; py < 8; ++py) {
    for (int px = 0; px < 8; ++px) {
      double sum = 0;
      for (int v = 0; v < 8; ++v) {
        for (int u = 0; u < 8; ++u) {
          double const weight = (u == 0 ? std::numbers::sqrt2 / 2 : 1) * (v == 0 ? std::numbers::sqrt2 / 2 : 1) / 4;
          sum += weight * grid[static_cast<std::size_t>(v)][static_cast<std::size_t>(u)] *
                 std::cos((2 * px + 1) * u * std::numbers::pi / 16) *
                 std::cos((2 * py + 1) * v * std::numbers::pi / 16);
        }
      }
      EXPECT_NEAR(stream.planes[0].row(static_cast<std::uint32_t>(py))[px], std::clamp(sum + 2048, 0.0, 4095.0), 1.0);
    }
  }
}

TEST(Jpeg12Stream, ReadsScansOfOneComponentAndWideQuantisers) {
  Jpeg12Builder builder;
  builder.soi().quantiser(800, true).huffman().frame(8, 8, {{}, {}, {}});
  for (std::uint32_t id = 1; id <= 3; ++id) { builder.scan({id}).block(0, {static_cast<int>(id)}).flush(); }
  builder.eoi();
  Jpeg12Stream stream({.width = 8, .height = 8, .components = 3});
  ASSERT_EQ(stream.read(builder.bytes, true), Jpeg12Trouble::none);
  for (std::uint32_t i = 0; i < 3; ++i) { EXPECT_EQ(stream.planes[i].row(3)[3], 2048 + 100 * (i + 1)); }
}

TEST(Jpeg12Stream, RestartsItsPredictions) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().restart_interval(1).frame(24, 8, {{}});
  builder.scan({1}).block(0, {10}).restart(0).block(0, {20}).restart(1).block(0, {30}).flush().eoi();
  Jpeg12Stream stream(kGray);
  ASSERT_EQ(stream.read(builder.bytes, true), Jpeg12Trouble::none);
  EXPECT_EQ(stream.planes[0].row(0)[8], 2048 + 20);
  EXPECT_EQ(stream.planes[0].row(0)[16], 2048 + 30);
}

TEST(Jpeg12Stream, MissesARestartMarker) {
  Jpeg12Builder builder;
  builder.soi().quantiser(8).huffman().restart_interval(1).frame(16, 8, {{}});
  builder.scan({1}).block(0, {10}).block(0, {20}).flush().eoi();
  Jpeg12Stream stream(kGray);
  EXPECT_EQ(stream.read(builder.bytes, true), Jpeg12Trouble::damaged);
}

TEST(Jpeg12Stream, RefusesOtherKindsOfJpeg) {
  for (std::uint32_t const sof : {0xC2u, 0xC3u, 0xC9u}) {
    Jpeg12Builder builder;
    builder.soi().frame(8, 8, {{}}, sof);
    EXPECT_EQ(Jpeg12Stream(kGray).read(builder.bytes, true), Jpeg12Trouble::not_sequential_12_bit);
  }
  Jpeg12Builder eight;
  eight.soi().frame(8, 8, {{}}, 0xC1, 8);
  EXPECT_EQ(Jpeg12Stream(kGray).read(eight.bytes, true), Jpeg12Trouble::not_sequential_12_bit);
}

TEST(Jpeg12Stream, RefusesAFrameThatDoesNotFitBeforeItAllocates) {
  EXPECT_EQ(Jpeg12Stream(kGray).read(header(65, 8, {{}}).bytes, true), Jpeg12Trouble::does_not_fit);
  EXPECT_EQ(Jpeg12Stream(kGray).read(header(8, 65535, {{}}).bytes, true), Jpeg12Trouble::does_not_fit);
  EXPECT_EQ(Jpeg12Stream(kGray).read(header(8, 8, {{}, {}}).bytes, true), Jpeg12Trouble::does_not_fit);
}

TEST(Jpeg12Stream, RefusesAScanThatComesTwiceOrHasNoTables) {
  Jpeg12Builder twice = header(8, 8, {{}});
  twice.scan({1}).block(0, {1}).flush().scan({1}).block(0, {1}).flush().eoi();
  EXPECT_EQ(Jpeg12Stream(kGray).read(twice.bytes, true), Jpeg12Trouble::damaged);
  Jpeg12Builder bare;
  bare.soi().frame(8, 8, {{}}).scan({1});
  EXPECT_EQ(Jpeg12Stream(kGray).read(bare.bytes, true), Jpeg12Trouble::damaged);
}

TEST(Jpeg12Stream, RefusesAHuffmanTableWithTooManyCodes) {
  std::vector<std::byte> stream = {std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}, std::byte{0xC4}, std::byte{0},
                                   std::byte{22},   std::byte{0},    std::byte{3}};  // three codes of one bit
  stream.resize(2 + 4 + 20, std::byte{0});
  EXPECT_EQ(Jpeg12Stream(kGray).read(stream, true), Jpeg12Trouble::damaged);
}

TEST(Jpeg12Stream, TakesTablesFromAnotherStream) {
  Jpeg12Builder tables, image;
  tables.soi().quantiser(8).huffman().eoi();
  image.soi().frame(8, 8, {{}}).scan({1}).block(0, {7}).flush().eoi();
  Jpeg12Stream stream(kGray);
  ASSERT_EQ(stream.read(tables.bytes, false), Jpeg12Trouble::none);
  ASSERT_EQ(stream.read(image.bytes, true), Jpeg12Trouble::none);
  EXPECT_EQ(stream.planes[0].row(0)[0], 2055);
  EXPECT_EQ(Jpeg12Stream(kGray).read(image.bytes, false), Jpeg12Trouble::damaged);  // an image among the tables
}

}  // namespace
}  // namespace terrazzo::codec::testing
