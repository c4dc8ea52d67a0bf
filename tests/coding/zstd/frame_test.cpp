// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/frame.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace terrazzo::coding {
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

Bytes const kMagic = bytes({0x28, 0xB5, 0x2F, 0xFD});
// Descriptor of a single segment whose content size is one byte.
Bytes single_segment(int content_size) { return kMagic + bytes({0x20, content_size}); }
Bytes block(bool last, int type, int size) {
  int const header = (last ? 1 : 0) | type << 1 | size << 3;
  return bytes({header & 255, header >> 8 & 255, header >> 16 & 255});
}
Bytes zeros(std::size_t count) { return Bytes(count); }

TEST(ZstdFrame, AcceptsARawBlock) {
  EXPECT_TRUE(zstd_frame_is_plausible(single_segment(5) + block(true, 0, 5) + zeros(5), 5));
}

TEST(ZstdFrame, AcceptsABlockOfOneRepeatedByte) {
  EXPECT_TRUE(zstd_frame_is_plausible(single_segment(200) + block(true, 1, 200) + zeros(1), 200));
}

TEST(ZstdFrame, AcceptsAFrameWithoutContentSize) {
  // Window of 8 MiB, as libtiff's level 19 writes for a tile of any size; the last block is empty.
  Bytes const frame = kMagic + bytes({0x00, 13 << 3}) + block(false, 0, 6) + zeros(6) + block(true, 0, 0);
  EXPECT_TRUE(zstd_frame_is_plausible(frame, 6));
}

TEST(ZstdFrame, AcceptsLongContentSizes) {
  // Two bytes hold the size less 256.
  EXPECT_TRUE(zstd_frame_is_plausible(kMagic + bytes({0x60, 44, 0}) + block(true, 1, 300) + zeros(1), 300));
  EXPECT_TRUE(zstd_frame_is_plausible(kMagic + bytes({0xA0, 44, 1, 0, 0}) + block(true, 1, 300) + zeros(1), 300));
  EXPECT_TRUE(
      zstd_frame_is_plausible(kMagic + bytes({0xE0, 44, 1, 0, 0, 0, 0, 0, 0}) + block(true, 1, 300) + zeros(1), 300));
}

TEST(ZstdFrame, AcceptsACompressedBlockWhoseLiteralsFit) {
  // Raw literals: 4 of them, then one byte that says "no sequences".
  Bytes const frame = single_segment(4) + block(true, 2, 6) + bytes({4 << 3, 1, 2, 3, 4, 0});
  // The block would be larger than its content may be (4), so the window must say otherwise.
  Bytes const windowed = kMagic + bytes({0x00, 0}) + block(true, 2, 6) + bytes({4 << 3, 1, 2, 3, 4, 0});
  EXPECT_FALSE(zstd_frame_is_plausible(frame, 4));
  EXPECT_TRUE(zstd_frame_is_plausible(windowed, 4));
}

TEST(ZstdFrame, LeavesFramesWithAChecksumToTheHost) {
  Bytes const with = kMagic + bytes({0x24, 5}) + block(true, 0, 5) + zeros(5) + zeros(4);
  Bytes const without = kMagic + bytes({0x20, 5}) + block(true, 0, 5) + zeros(5);
  EXPECT_FALSE(zstd_frame_is_plausible(with, 5));
  EXPECT_TRUE(zstd_frame_is_plausible(without, 5));
}

TEST(ZstdFrame, RefusesEveryTruncation) {
  Bytes const frame = kMagic + bytes({0x20, 50}) + block(false, 0, 20) + zeros(20) + block(true, 1, 30) + zeros(1);
  ASSERT_TRUE(zstd_frame_is_plausible(frame, 50));
  for (std::size_t size = 0; size < frame.size(); ++size) {
    Bytes const cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(zstd_frame_is_plausible(cut, 50)) << size;
  }
}

TEST(ZstdFrame, RefusesAnotherContentSize) {
  Bytes const frame = single_segment(5) + block(true, 0, 5) + zeros(5);
  EXPECT_FALSE(zstd_frame_is_plausible(frame, 4));
  EXPECT_FALSE(zstd_frame_is_plausible(frame, 6));
}

TEST(ZstdFrame, RefusesBlocksThatCannotAddUp) {
  Bytes const header = kMagic + bytes({0x00, 0});
  EXPECT_TRUE(zstd_frame_is_plausible(header + block(true, 0, 5) + zeros(5), 5));
  EXPECT_FALSE(zstd_frame_is_plausible(header + block(true, 0, 5) + zeros(5), 4)) << "surplus";
  EXPECT_FALSE(zstd_frame_is_plausible(header + block(true, 0, 5) + zeros(5), 6)) << "too little";
}

TEST(ZstdFrame, RefusesWhatFollowsTheFrame) {
  Bytes const frame = single_segment(5) + block(true, 0, 5) + zeros(5);
  EXPECT_FALSE(zstd_frame_is_plausible(frame + zeros(1), 5));
  EXPECT_FALSE(zstd_frame_is_plausible(frame + frame, 5));
}

TEST(ZstdFrame, RefusesReservedBlocksAndBits) {
  EXPECT_FALSE(zstd_frame_is_plausible(single_segment(5) + block(true, 3, 5) + zeros(5), 5));
  EXPECT_FALSE(zstd_frame_is_plausible(kMagic + bytes({0x28, 5}) + block(true, 0, 5) + zeros(5), 5));
}

TEST(ZstdFrame, RefusesSkippableFramesAndOtherMagic) {
  Bytes const frame = single_segment(5) + block(true, 0, 5) + zeros(5);
  EXPECT_FALSE(zstd_frame_is_plausible(bytes({0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0}) + frame, 5));
  Bytes other = frame;
  other[0] = std::byte{0x27};
  EXPECT_FALSE(zstd_frame_is_plausible(other, 5));
}

TEST(ZstdFrame, RefusesDictionariesButTakesTheirNumberZero) {
  Bytes const rest = block(true, 0, 5) + zeros(5);
  EXPECT_TRUE(zstd_frame_is_plausible(kMagic + bytes({0x21, 0, 5}) + rest, 5));
  EXPECT_FALSE(zstd_frame_is_plausible(kMagic + bytes({0x21, 7, 5}) + rest, 5));
  EXPECT_FALSE(zstd_frame_is_plausible(kMagic + bytes({0x23, 0, 0, 0, 1, 5}) + rest, 5));
}

TEST(ZstdFrame, RefusesWindowsThatNoTileNeeds) {
  Bytes const rest = block(true, 0, 5) + zeros(5);
  EXPECT_TRUE(zstd_frame_is_plausible(kMagic + bytes({0x00, 13 << 3}) + rest, 5));
  EXPECT_FALSE(zstd_frame_is_plausible(kMagic + bytes({0x00, 13 << 3 | 1}) + rest, 5));
  EXPECT_FALSE(zstd_frame_is_plausible(kMagic + bytes({0x00, 0xFF}) + rest, 5));
}

TEST(ZstdFrame, RefusesLiteralsThatLeaveTheirBlock) {
  Bytes const header = kMagic + bytes({0x00, 0});
  EXPECT_FALSE(zstd_frame_is_plausible(header + block(true, 2, 6) + bytes({5 << 3, 1, 2, 3, 4, 0}), 4))
      << "no sequences";
  EXPECT_FALSE(zstd_frame_is_plausible(header + block(true, 2, 2) + bytes({0x0C, 0}), 4)) << "header is cut";
  // Compressed literals: 10 regenerated, 200 stored, in a block of 6.
  EXPECT_FALSE(
      zstd_frame_is_plausible(header + block(true, 2, 6) + bytes({0x02 | (10 << 4 & 0xF0), 0x20, 0x32, 0, 0, 0}), 10));
}

TEST(ZstdFrame, RefusesATreeThatNobodyDefined) {
  // Treeless literals of 2 regenerated and 1 stored byte, in the first block.
  Bytes const frame = kMagic + bytes({0x00, 0}) + block(true, 2, 5) + bytes({0x03 | 2 << 4, 0x40, 0x00, 0, 0});
  EXPECT_FALSE(zstd_frame_is_plausible(frame, 2));
  // The same bytes as compressed literals bring their own.
  Bytes const own = kMagic + bytes({0x00, 0}) + block(true, 2, 5) + bytes({0x02 | 2 << 4, 0x40, 0x00, 0, 0});
  EXPECT_TRUE(zstd_frame_is_plausible(own, 2));
}

TEST(ZstdFrame, RefusesCodedLiteralsOfNoBytes) {
  Bytes const frame = kMagic + bytes({0x00, 0}) + block(true, 2, 5) + bytes({0x02 | 2 << 4, 0x00, 0x00, 0, 0});
  EXPECT_FALSE(zstd_frame_is_plausible(frame, 2));
}

TEST(ZstdLiteralsHeader, IsReadInEveryFormat) {
  struct Case {
    Bytes in;
    std::uint64_t bytes, literals, stored;
    bool is_one_stream;
  };
  using Kind = ZstdLiteralsHeader::Kind;
  auto const check = [](Kind kind, Case const& wanted) {
    ZstdLiteralsHeader header;
    for (std::size_t size = 0; size < wanted.bytes; ++size) { EXPECT_FALSE(header.read(wanted.in.data(), size)); }
    ASSERT_TRUE(header.read(wanted.in.data(), wanted.in.size()));
    EXPECT_EQ(header.kind, kind);
    EXPECT_EQ(header.bytes, wanted.bytes);
    EXPECT_EQ(header.literals, wanted.literals);
    EXPECT_EQ(header.stored, wanted.stored);
    EXPECT_EQ(header.is_one_stream, wanted.is_one_stream);
  };
  for (int const kind : {0, 1}) {
    Kind const wanted{static_cast<std::uint8_t>(kind)};
    auto const stored = [&](std::uint64_t literals) { return kind == 0 ? literals : 1; };
    check(wanted, {bytes({kind | 31 << 3}), 1, 31, stored(31), false});
    check(wanted, {bytes({kind | 30 << 3}), 1, 30, stored(30), false});
    check(wanted, {bytes({kind | 1 << 2 | 0xF0, 0xAB}), 2, 0xABF, stored(0xABF), false});
    check(wanted, {bytes({kind | 3 << 2 | 0xF0, 0xAB, 0xCD}), 3, 0xCDABF, stored(0xCDABF), false});
  }
  for (int const kind : {2, 3}) {
    Kind const wanted{static_cast<std::uint8_t>(kind)};
    check(wanted, {bytes({kind | 0 << 2 | 0xF0, 0x3F, 0x80}), 3, 0x3FF, 0x200, true});
    check(wanted, {bytes({kind | 1 << 2 | 0x10, 0x40, 0x00}), 3, 1, 1, false});
    check(wanted, {bytes({kind | 2 << 2 | 0x10, 0x00, 0x04, 0x80}), 4, 1, 0x2001, false});
    check(wanted, {bytes({kind | 3 << 2 | 0x10, 0x00, 0x40, 0x00, 0x80}), 5, 1, 0x20001, false});
  }
}

TEST(ZstdLiteralsHeader, LeavesAByteForTheSequences) {
  ZstdLiteralsHeader const header{.kind = ZstdLiteralsHeader::Kind::raw, .bytes = 1, .literals = 4, .stored = 4};
  EXPECT_TRUE(header.fits(6, 4));
  EXPECT_FALSE(header.fits(5, 4));
  EXPECT_FALSE(header.fits(6, 3));
}

}  // namespace
}  // namespace terrazzo::coding
