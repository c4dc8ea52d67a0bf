// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/jpeg_stream.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

namespace terrazzo::gpu {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes out;
  for (int const value : values) { out.push_back(static_cast<std::byte>(value)); }
  return out;
}

Bytes operator+(Bytes left, Bytes const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Bytes segment(int marker, Bytes const& body) {
  int const length = static_cast<int>(body.size()) + 2;
  return bytes({0xFF, marker, length >> 8, length & 255}) + body;
}

Bytes const kStart = bytes({0xFF, 0xD8});
Bytes const kEnd = bytes({0xFF, 0xD9});

Bytes quantisation(int number) { return segment(0xDB, bytes({number}) + Bytes(64)); }
// A table with one code of one bit.
Bytes huffman(int kind, int number) { return segment(0xC4, bytes({kind << 4 | number, 1}) + Bytes(15) + Bytes(1)); }
Bytes all_tables() {
  return quantisation(0) + quantisation(1) + huffman(0, 0) + huffman(1, 0) + huffman(0, 1) + huffman(1, 1);
}

struct Tile {
  int marker = 0xC0;
  int precision = 8;
  int width = 32;
  int height = 16;
  int luma = 0x22;
  int chroma = 0x11;
  std::vector<int> ids = {1, 2, 3};
  int scan_components = 3;

  [[nodiscard]] Bytes body() const {
    Bytes frame = bytes({precision, height >> 8, height & 255, width >> 8, width & 255, static_cast<int>(ids.size())});
    Bytes scan = bytes({scan_components});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      frame = frame + bytes({ids[i], i == 0 ? luma : chroma, i == 0 ? 0 : 1});
      if (static_cast<int>(i) < scan_components) { scan = scan + bytes({ids[i], i == 0 ? 0x00 : 0x11}); }
    }
    return segment(marker, frame) + segment(0xDA, scan + bytes({0, 63, 0})) + bytes({0x12, 0x34}) + kEnd;
  }
};

JpegFormat ycbcr() { return {32, 16, 3, true, true, {}}; }

JpegRoute route(Bytes const& tile, JpegFormat const& format, Bytes const& tag = {}, bool* needs_tables = nullptr) {
  std::optional<JpegTables> const tables = parse_jpeg_tables(tag);
  if (!tables) { return JpegRoute::corrupt; }
  bool needed = false;
  // An exact allocation, so that a sanitizer sees a read outside it.
  std::unique_ptr<std::byte[]> const exact(new std::byte[tile.size()]);
  std::copy(tile.begin(), tile.end(), exact.get());
  JpegRoute const result = route_jpeg({exact.get(), tile.size()}, format, *tables, needed);
  if (needs_tables != nullptr) { *needs_tables = needed; }
  return result;
}

TEST(JpegStream, ReadsTheHeadersUpToTheFirstScan) {
  auto const summary = summarise_jpeg(kStart + all_tables() + Tile{}.body());
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->frame_marker, 0xC0);
  EXPECT_EQ(summary->precision, 8);
  EXPECT_EQ(summary->width_px, 32u);
  EXPECT_EQ(summary->height_px, 16u);
  EXPECT_EQ(summary->component_count, 3u);
  EXPECT_EQ(summary->components[0].across, 2);
  EXPECT_EQ(summary->components[1].id, 2);
  EXPECT_TRUE(summary->one_scan);
  EXPECT_TRUE(summary->has_end);
  EXPECT_EQ(summary->used.quantisation, 3);
  EXPECT_EQ(summary->used.dc, 3);
  EXPECT_EQ(summary->defined.ac, 3);
}

TEST(JpegStream, ConvertsYCbCrAndLeavesEverythingElse) {
  Bytes const subsampled = kStart + all_tables() + Tile{}.body();
  Tile full;
  full.luma = 0x11;
  Bytes const plain = kStart + all_tables() + full.body();
  EXPECT_EQ(route(subsampled, ycbcr()), JpegRoute::rgb);
  EXPECT_EQ(route(plain, ycbcr()), JpegRoute::rgb);
  JpegFormat rgb = ycbcr();
  rgb.is_ycbcr = false;
  EXPECT_EQ(route(plain, rgb), JpegRoute::planes);
  EXPECT_EQ(route(subsampled, rgb), JpegRoute::unsupported);
  JpegFormat raw = ycbcr();
  raw.to_rgb = false;
  EXPECT_EQ(route(plain, raw), JpegRoute::planes);
  EXPECT_EQ(route(subsampled, raw), JpegRoute::unsupported);
}

TEST(JpegStream, TakesGray) {
  Tile gray;
  gray.ids = {1};
  gray.scan_components = 1;
  gray.luma = 0x11;
  JpegFormat const format{32, 16, 1, false, true, {}};
  EXPECT_EQ(route(kStart + all_tables() + gray.body(), format), JpegRoute::gray);
  gray.luma = 0x22;
  EXPECT_EQ(route(kStart + all_tables() + gray.body(), format), JpegRoute::unsupported);
}

TEST(JpegStream, LeavesStreamsThatContradictThePhotometricTagToTheHost) {
  Bytes const adobe_rgb = segment(0xEE, bytes({'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}));
  Bytes const adobe_ycc = segment(0xEE, bytes({'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 1}));
  Bytes const jfif = segment(0xE0, bytes({'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0}));
  Tile letters;
  letters.ids = {'R', 'G', 'B'};
  EXPECT_EQ(route(kStart + adobe_rgb + all_tables() + Tile{}.body(), ycbcr()), JpegRoute::unsupported);
  EXPECT_EQ(route(kStart + adobe_ycc + all_tables() + Tile{}.body(), ycbcr()), JpegRoute::rgb);
  EXPECT_EQ(route(kStart + all_tables() + letters.body(), ycbcr()), JpegRoute::unsupported);
  EXPECT_EQ(route(kStart + jfif + all_tables() + letters.body(), ycbcr()), JpegRoute::rgb);
}

TEST(JpegStream, LeavesUnusualStreamsToTheHost) {
  auto const routed = [](auto change) {
    Tile tile;
    change(tile);
    return route(kStart + all_tables() + tile.body(), ycbcr());
  };
  EXPECT_EQ(routed([](Tile&) {}), JpegRoute::rgb);
  EXPECT_EQ(routed([](Tile& t) { t.marker = 0xC2; }), JpegRoute::unsupported) << "progressive";
  EXPECT_EQ(routed([](Tile& t) { t.precision = 12; }), JpegRoute::unsupported);
  EXPECT_EQ(routed([](Tile& t) { t.width = 31; }), JpegRoute::unsupported);
  EXPECT_EQ(routed([](Tile& t) { t.height = 17; }), JpegRoute::unsupported);
  EXPECT_EQ(routed([](Tile& t) { t.luma = 0x41; }), JpegRoute::unsupported) << "4:1:1";
  EXPECT_EQ(routed([](Tile& t) { t.chroma = 0x12; }), JpegRoute::unsupported);
  EXPECT_EQ(routed([](Tile& t) { t.scan_components = 1; }), JpegRoute::unsupported) << "a scan a component";
  EXPECT_EQ(routed([](Tile& t) { t.ids = {1, 2, 3, 4}; }), JpegRoute::unsupported) << "four components";
}

TEST(JpegStream, WantsTheEndMarkerAndAllowsPadding) {
  Bytes const whole = kStart + all_tables() + Tile{}.body();
  Bytes const cut(whole.begin(), whole.end() - 1);
  EXPECT_EQ(route(cut, ycbcr()), JpegRoute::unsupported);
  EXPECT_EQ(route(whole + Bytes(3), ycbcr()), JpegRoute::rgb);
}

TEST(JpegStream, NeverReadsPastACutStream) {
  Bytes const whole = kStart + all_tables() + Tile{}.body();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(route(cut, ycbcr()), size < 2 ? JpegRoute::corrupt : JpegRoute::unsupported) << size;
  }
}

TEST(JpegStream, SaysWhenATileNeedsTheImagesTables) {
  Bytes const tag = kStart + all_tables() + kEnd;
  bool needs = false;
  EXPECT_EQ(route(kStart + Tile{}.body(), ycbcr(), tag, &needs), JpegRoute::rgb);
  EXPECT_TRUE(needs);
  EXPECT_EQ(route(kStart + all_tables() + Tile{}.body(), ycbcr(), tag, &needs), JpegRoute::rgb);
  EXPECT_FALSE(needs);
  EXPECT_EQ(route(kStart + Tile{}.body(), ycbcr()), JpegRoute::unsupported) << "nobody defines them";
  Bytes const half = kStart + quantisation(0) + huffman(0, 0) + huffman(1, 0) + kEnd;
  EXPECT_EQ(route(kStart + Tile{}.body(), ycbcr(), half), JpegRoute::unsupported);
}

TEST(JpegStream, TakesOnlyTablesFromTheTag) {
  Bytes const restart = segment(0xDD, bytes({0, 4}));
  Bytes const comment = segment(0xFE, bytes({'h', 'i'}));
  auto const tables = parse_jpeg_tables(kStart + restart + quantisation(2) + comment + huffman(1, 3) + kEnd);
  ASSERT_TRUE(tables.has_value());
  EXPECT_EQ(tables->front, kStart + quantisation(2) + huffman(1, 3));
  EXPECT_EQ(tables->defined.quantisation, 4);
  EXPECT_EQ(tables->defined.ac, 8);
  EXPECT_FALSE(parse_jpeg_tables(kStart + Tile{}.body()).has_value()) << "an image is no table";
  EXPECT_FALSE(parse_jpeg_tables(bytes({1, 2, 3})).has_value());
  EXPECT_FALSE(parse_jpeg_tables(kStart + bytes({0xFF, 0xDB, 0, 200, 0})).has_value()) << "cut";
  EXPECT_TRUE(parse_jpeg_tables({})->front.empty());
}

TEST(JpegStream, PutsTablesInFrontWithoutTouchingTheTile) {
  auto const tables = parse_jpeg_tables(kStart + all_tables() + kEnd);
  ASSERT_TRUE(tables.has_value());
  Bytes const tile = kStart + Tile{}.body();
  std::size_t const front = jpeg_front_bytes(*tables);
  Bytes buffer = bytes({0x5A}) + Bytes(front) + tile;
  put_jpeg_front(*tables, buffer.data() + 1 + front);
  EXPECT_EQ(buffer[0], std::byte{0x5A}) << "one byte too many in front";
  EXPECT_TRUE(std::equal(tile.begin(), tile.end(), buffer.begin() + 1 + static_cast<std::ptrdiff_t>(front)));
  bool needs = true;
  Bytes const whole(buffer.begin() + 1, buffer.end());
  EXPECT_EQ(route(whole, ycbcr(), {}, &needs), JpegRoute::rgb);
  EXPECT_FALSE(needs);
}

}  // namespace
}  // namespace terrazzo::gpu
