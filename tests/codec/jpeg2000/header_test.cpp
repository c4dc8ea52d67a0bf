// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg2000/header.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace terrazzo::codec {
namespace {

using Bytes = std::vector<std::byte>;

class Stream {
 public:
  Stream& u8(std::uint32_t v) { return put(v, 1); }
  Stream& u16(std::uint32_t v) { return put(v, 2); }
  Stream& u32(std::uint32_t v) { return put(v, 4); }
  Bytes bytes;

 private:
  Stream& put(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) { bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF)); }
    return *this;
  }
};

struct Siz {
  std::uint32_t right = 640, bottom = 480, left = 0, top = 0;
  std::uint32_t tile_width = 640, tile_height = 480, tile_left = 0, tile_top = 0;
  std::vector<std::uint32_t> depths{7};  // as stored: bits less one, the top bit for signed
};

Stream codestream(Siz const& siz) {
  Stream s;
  s.u16(0xFF4F).u16(0xFF51).u16(38 + 3 * static_cast<std::uint32_t>(siz.depths.size())).u16(0);
  s.u32(siz.right).u32(siz.bottom).u32(siz.left).u32(siz.top);
  s.u32(siz.tile_width).u32(siz.tile_height).u32(siz.tile_left).u32(siz.tile_top);
  s.u16(static_cast<std::uint32_t>(siz.depths.size()));
  for (std::uint32_t const depth : siz.depths) { s.u8(depth).u8(1).u8(1); }
  return s;
}

TEST(Jpeg2000Header, ReadsTheSizeOfABareCodestream) {
  auto const header = parse_jpeg2000_header(
      codestream({.left = 40, .top = 80, .tile_width = 100, .tile_height = 100, .depths = {7, 0x8F}}).bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->width_px, 600u);
  EXPECT_EQ(header->height_px, 400u);
  EXPECT_EQ(header->inner_tile_count, 7u * 5u);  // counted from the tiles' own origin
  EXPECT_EQ(header->components, 2u);
  EXPECT_EQ(header->max_bits, 16u);
  EXPECT_FALSE(header->in_jp2_boxes);
}

TEST(Jpeg2000Header, FindsTheCodestreamInJp2Boxes) {
  for (bool const long_box : {false, true}) {
    Stream file;
    file.u32(12).u32(0x6A502020).u32(0x0D0A870A);
    if (long_box) {
      file.u32(1).u32(0x66747970).u32(0).u32(20).u32(0);
    } else {
      file.u32(12).u32(0x66747970).u32(0);
    }
    file.u32(0).u32(0x6A703263);
    Bytes const inner = codestream({}).bytes;
    file.bytes.insert(file.bytes.end(), inner.begin(), inner.end());
    auto const header = parse_jpeg2000_header(file.bytes);
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->in_jp2_boxes);
    EXPECT_EQ(header->width_px, 640u);
  }
}

TEST(Jpeg2000Header, FindsTheSmallestPrecinctOfCodAndCoc) {
  Stream cod = codestream({});
  cod.u16(0xFF52).u16(15).u8(1).u8(0).u16(1).u8(0).u8(2).u8(4).u8(4).u8(0).u8(1).u8(0x11).u8(0x76).u8(0x88);
  EXPECT_EQ(parse_jpeg2000_header(cod.bytes)->smallest_precinct_log2, 6u);  // 0x11 is of the lowest resolution
  Stream coc = cod;
  coc.u16(0xFF53).u16(11).u8(0).u8(1).u8(1).u8(4).u8(4).u8(0).u8(1).u8(0x88).u8(0x38);
  EXPECT_EQ(parse_jpeg2000_header(coc.bytes)->smallest_precinct_log2, 3u);
}

TEST(Jpeg2000Header, RefusesSizesThatMakeNoSense) {
  for (Siz const& siz : {Siz{.right = 0}, Siz{.left = 640}, Siz{.top = 481}, Siz{.tile_width = 0}, Siz{.tile_left = 1},
                         Siz{.depths = {}}}) {
    EXPECT_FALSE(parse_jpeg2000_header(codestream(siz).bytes));
  }
}

TEST(Jpeg2000Header, CountsTilesWithoutOverflow) {
  auto const header = parse_jpeg2000_header(
      codestream({.right = 0xFFFFFFFF, .bottom = 0xFFFFFFFF, .tile_width = 1, .tile_height = 1}).bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->inner_tile_count, 0xFFFFFFFFull * 0xFFFFFFFFull);
}

TEST(Jpeg2000Header, RefusesEveryPrefixThatEndsInSiz) {
  Bytes const whole = codestream({}).bytes;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_jpeg2000_header(std::span(whole).first(length)));
  }
}

TEST(Jpeg2000Header, RefusesABoxShorterThanItself) {
  Stream file;
  file.u32(12).u32(0x6A502020).u32(0x0D0A870A).u32(3).u32(0x66747970).u32(0);
  EXPECT_FALSE(parse_jpeg2000_header(file.bytes));
}

}  // namespace
}  // namespace terrazzo::codec
