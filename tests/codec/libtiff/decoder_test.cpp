// SPDX-License-Identifier: Apache-2.0
//
// Over files of a few hundred bytes, built here. libtiff may be absent: then only the refusal is tested.
#include "codec/libtiff/decoder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace terrazzo::codec {
namespace {

using Bytes = std::vector<std::byte>;
using tile::TileStatus;

// A classic little-endian file: header, pixel data at byte 8, one directory of SHORT and LONG tags behind it.
struct Tag {
  std::uint16_t number;
  std::uint32_t value;
};

struct File {
  Bytes bytes;
  std::uint64_t ifd = 0;
};

void put(Bytes& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) { bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF)); }
}

File build(Bytes const& pixels, std::vector<Tag> tags) {
  tags.push_back({273, 8});
  tags.push_back({279, static_cast<std::uint32_t>(pixels.size())});
  std::ranges::sort(tags, {}, &Tag::number);
  File file;
  file.ifd = 8 + pixels.size() + pixels.size() % 2;
  put(file.bytes, 0x002A4949, 4);
  put(file.bytes, static_cast<std::uint32_t>(file.ifd), 4);
  file.bytes.insert(file.bytes.end(), pixels.begin(), pixels.end());
  if (pixels.size() % 2 != 0) { put(file.bytes, 0, 1); }
  put(file.bytes, static_cast<std::uint32_t>(tags.size()), 2);
  for (Tag const& tag : tags) {
    put(file.bytes, tag.number, 2);
    put(file.bytes, 4, 2);  // LONG, which libtiff takes for SHORT tags too
    put(file.bytes, 1, 4);
    put(file.bytes, tag.value, 4);
  }
  put(file.bytes, 0, 4);
  return file;
}

LibtiffDecoder open(File const& file) {
  auto const read = [&file](std::uint64_t offset, std::span<std::byte> target) {
    std::size_t const count =
        offset >= file.bytes.size() ? 0 : std::min(target.size(), file.bytes.size() - static_cast<std::size_t>(offset));
    if (count != 0) { std::memcpy(target.data(), file.bytes.data() + offset, count); }
    return count;
  };
  return LibtiffDecoder(read, file.bytes.size(), file.ifd, "test.tif");
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (int const value : values) { bytes.push_back(static_cast<std::byte>(value)); }
  return bytes;
}

// One row of 16 white pixels, then 8 white and 8 black: in CCITT RLE (modified Huffman, rows end on bytes).
// white 16 = 101010; white 8 = 10011, black 8 = 000101.
File ccitt_rle() {
  return build(bytes_of({0xA8, 0x98, 0xA0}), {{256, 16}, {257, 2}, {258, 1}, {259, 2}, {262, 0}, {277, 1}, {278, 2}});
}

class Libtiff : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not installed"; }
  }
};

TEST(LibtiffMissing, IsAnErrorThatNamesIt) {
  if (LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is installed"; }
  EXPECT_THROW(open(ccitt_rle()), Error);
}

TEST_F(Libtiff, SaysWhatItIsAndWhatItDecodes) {
  EXPECT_NE(LibtiffDecoder::library_version().find("LIBTIFF"), std::string_view::npos);
  EXPECT_TRUE(LibtiffDecoder::decodes(tiff::Compression::ccitt_fax4));
  EXPECT_FALSE(LibtiffDecoder::decodes(tiff::Compression::deflate));
  EXPECT_FALSE(LibtiffDecoder::decodes(static_cast<tiff::Compression>(44510)));
}

TEST_F(Libtiff, DecodesCcittRle) {
  File const file = ccitt_rle();
  LibtiffDecoder decoder = open(file);
  Bytes out(4, std::byte{0x55});
  auto const result = decoder.decode_block(0, out);
  EXPECT_EQ(result.status, TileStatus::ok);
  EXPECT_EQ(out, bytes_of({0x00, 0x00, 0x00, 0xFF}));
}

// libtiff calls a block good that says it has ended after its first row, and leaves the others as they were.
TEST_F(Libtiff, ShowsNoEarlierMemoryWhereABlockEndsEarly) {
  // A row like the white one above it, then the end of the block.
  File const file = build(bytes_of({0x80, 0x08, 0x00, 0x80}),
                          {{256, 16}, {257, 3}, {258, 1}, {259, 4}, {262, 0}, {277, 1}, {278, 3}});
  LibtiffDecoder decoder = open(file);
  Bytes out(6, std::byte{0x55});
  (void)decoder.decode_block(0, out);
  EXPECT_EQ(out, Bytes(6));
}

TEST_F(Libtiff, DecodesThunderScan) {
  // Two raw pixels of 4 bits: the codes 11 rrrr.
  File const file =
      build(bytes_of({0xC3, 0xCA}), {{256, 2}, {257, 1}, {258, 4}, {259, 32809}, {262, 1}, {277, 1}, {278, 1}});
  LibtiffDecoder decoder = open(file);
  Bytes out(1);
  EXPECT_EQ(decoder.decode_block(0, out).status, TileStatus::ok);
  EXPECT_EQ(out, bytes_of({0x3A}));
}

TEST_F(Libtiff, RefusesFaxCodesOfInterleavedSamples) {
  File const file = build(bytes_of({0xA8, 0x98, 0xA0}),
                          {{256, 16}, {257, 2}, {258, 1}, {259, 2}, {262, 2}, {277, 3}, {278, 2}, {284, 1}});
  LibtiffDecoder decoder = open(file);
  Bytes out(12);
  EXPECT_EQ(decoder.decode_block(0, out).status, TileStatus::corrupt);
}

TEST_F(Libtiff, SurvivesBeingMoved) {
  File const file = ccitt_rle();
  LibtiffDecoder first = open(file);
  LibtiffDecoder second = std::move(first);
  Bytes out(4);
  EXPECT_EQ(second.decode_block(0, out).status, TileStatus::ok);
}

TEST_F(Libtiff, RefusesABlockThatIsNotThere) {
  File const file = ccitt_rle();
  LibtiffDecoder decoder = open(file);
  Bytes out(4);
  EXPECT_EQ(decoder.decode_block(1, out).status, TileStatus::failed);
}

TEST_F(Libtiff, CountsTheBytesOfABlockSmallerThanTheOutput) {
  File const file = ccitt_rle();
  LibtiffDecoder decoder = open(file);
  Bytes out(10);
  auto const result = decoder.decode_block(0, out);
  EXPECT_EQ(result.status, TileStatus::truncated);
  EXPECT_EQ(result.bytes_written, 4u);
}

TEST_F(Libtiff, KeepsItsMessagesToItself) {
  File file = ccitt_rle();
  file.bytes[8] = std::byte{0x00};  // no such code word
  file.bytes[9] = std::byte{0x00};
  LibtiffDecoder decoder = open(file);
  Bytes out(4);
  ::testing::internal::CaptureStderr();
  static_cast<void>(decoder.decode_block(0, out));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(decoder.messages().empty());
}

TEST_F(Libtiff, RefusesADirectoryThatIsNotThere) {
  File file = ccitt_rle();
  file.ifd = file.bytes.size() + 100;
  try {
    open(file);
    FAIL() << "opened";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::malformed); }
}

TEST_F(Libtiff, TurnsAThrowingSourceIntoAFailedBlock) {
  File const file = ccitt_rle();
  bool broken = false;
  LibtiffDecoder decoder(
      [&](std::uint64_t offset, std::span<std::byte> target) -> std::size_t {
        if (broken) { throw std::runtime_error("the cable is out"); }
        std::size_t const count = std::min(target.size(), file.bytes.size() - static_cast<std::size_t>(offset));
        std::memcpy(target.data(), file.bytes.data() + offset, count);
        return count;
      },
      file.bytes.size(), file.ifd, "test.tif");
  broken = true;
  Bytes out(4);
  EXPECT_EQ(decoder.decode_block(0, out).status, TileStatus::failed);
}

TEST_F(Libtiff, GivesRgbaTopDown) {
  // Two rows, each a strip's half: dark then bright gray.
  File const file =
      build(bytes_of({10, 20, 200, 210}), {{256, 2}, {257, 2}, {258, 8}, {259, 1}, {262, 1}, {277, 1}, {278, 2}});
  LibtiffDecoder decoder = open(file);
  ASSERT_TRUE(decoder.can_give_rgba());
  Bytes out(16);
  auto const result = decoder.decode_rgba_block(0, 0, {2, 2}, out);
  EXPECT_EQ(result.status, TileStatus::ok);
  EXPECT_EQ(out, bytes_of({10, 10, 10, 255, 20, 20, 20, 255, 200, 200, 200, 255, 210, 210, 210, 255}));
}

TEST_F(Libtiff, RefusesRgbaOfAnotherShape) {
  File const file =
      build(bytes_of({10, 20, 200, 210}), {{256, 2}, {257, 2}, {258, 8}, {259, 1}, {262, 1}, {277, 1}, {278, 2}});
  LibtiffDecoder decoder = open(file);
  Bytes out(16);
  EXPECT_EQ(decoder.decode_rgba_block(0, 0, {2, 1}, out).status, TileStatus::failed);
  EXPECT_EQ(decoder.decode_rgba_block(0, 2, {2, 2}, out).status, TileStatus::failed);
  EXPECT_EQ(decoder.decode_rgba_block(0, 0, {2, 2}, std::span(out).first(15)).status, TileStatus::failed);
}

TEST_F(Libtiff, ReadsEveryPrefixWithoutHarm) {
  File const whole = ccitt_rle();
  for (std::size_t length = 0; length < whole.bytes.size(); ++length) {
    File cut = whole;
    cut.bytes.resize(length);
    try {
      LibtiffDecoder decoder = open(cut);
      Bytes out(4);
      EXPECT_LE(decoder.decode_block(0, out).bytes_written, out.size());
    } catch (Error const&) { SUCCEED(); }
  }
}

}  // namespace
}  // namespace terrazzo::codec
