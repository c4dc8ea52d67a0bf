// SPDX-License-Identifier: Apache-2.0
#include "tiff/block_index.hpp"

#include "support/sources.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::CountingSource;
using testing::SyntheticSource;
using testing::TiffBuilder;

// 64 x 40 bytes; tiles of 16 x 16 (4 x 3 of them), or strips of 16 rows (3 of them, the last of 8).
TiffBuilder image_of(bool tiled, std::uint16_t compression, std::endian order = std::endian::little, bool big = false) {
  TiffBuilder builder(order, big);
  static_cast<void>(builder.data(std::vector<std::byte>(4096)));
  builder.longs(tag::ImageWidth, {64})
      .longs(tag::ImageLength, {40})
      .shorts(tag::BitsPerSample, {8})
      .shorts(tag::Compression, {compression});
  if (tiled) {
    builder.longs(tag::TileWidth, {16}).longs(tag::TileLength, {16});
  } else {
    builder.longs(tag::RowsPerStrip, {16});
  }
  return builder;
}

BlockIndex index_of(TiffBuilder const& builder) {
  Directory const dir = builder.directory();
  std::vector<std::string> warnings;
  return BlockIndex(dir, parse_image(dir, warnings));
}

void expect_range(BlockIndex const& index, std::uint64_t block, std::uint64_t offset, std::uint64_t size) {
  BlockRange const range = index.range(block);
  EXPECT_EQ(range.offset_bytes, offset) << "block " << block;
  EXPECT_EQ(range.size_bytes, size) << "block " << block;
}

std::vector<std::uint32_t> counting(std::uint32_t first, std::uint32_t step, std::size_t n) {
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < n; ++i) { values.push_back(first + step * static_cast<std::uint32_t>(i)); }
  return values;
}

void expect_refused(TiffBuilder const& builder) {
  try {
    static_cast<void>(index_of(builder));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_TRUE(error.where().tag == tag::TileOffsets || error.where().tag == tag::StripOffsets) << error.what();
  }
}

TEST(BlockIndex, ReadsEveryOffsetTypeInBothOrders) {
  for (std::endian const order : {std::endian::little, std::endian::big}) {
    TiffBuilder shorts = image_of(true, 5, order), longs = image_of(true, 5, order),
                long8s = image_of(true, 5, order, true);
    std::vector<std::uint16_t> offsets16, counts16;
    std::vector<std::uint64_t> offsets64;
    for (std::uint16_t i = 0; i < 12; ++i) {
      offsets16.push_back(static_cast<std::uint16_t>(1000 + i));
      counts16.push_back(static_cast<std::uint16_t>(1 + i));
      offsets64.push_back((std::uint64_t{1} << 40) + i);
    }
    shorts.shorts(tag::TileOffsets, offsets16).shorts(tag::TileByteCounts, counts16);
    longs.longs(tag::TileOffsets, counting(4'000'000'000, 1, 12)).shorts(tag::TileByteCounts, counts16);
    long8s.long8s(tag::TileOffsets, offsets64).longs(tag::TileByteCounts, counting(70'000, 1, 12));
    expect_range(index_of(shorts), 11, 1011, 12);
    expect_range(index_of(longs), 3, 4'000'000'003, 4);
    expect_range(index_of(long8s), 7, (std::uint64_t{1} << 40) + 7, 70'007);
  }
}

// Nobody writes them, but libtiff takes them, and a small file has room for its offsets in a byte.
TEST(BlockIndex, ReadsOffsetsAndSizesOfBytes) {
  TiffBuilder builder = image_of(true, 5);
  std::vector<std::byte> offsets, counts;
  for (int i = 0; i < 12; ++i) {
    offsets.push_back(static_cast<std::byte>(200 + i));
    counts.push_back(static_cast<std::byte>(1 + i));
  }
  builder.raw(tag::TileOffsets, 1, 12, offsets).raw(tag::TileByteCounts, 1, 12, counts);
  BlockIndex const index = index_of(builder);
  expect_range(index, 0, 200, 1);
  expect_range(index, 11, 211, 12);
}

TEST(BlockIndex, TakesOneValueThatLiesInItsEntry) {
  TiffBuilder builder = image_of(false, 5);
  builder.longs(tag::RowsPerStrip, {40}).longs(tag::StripOffsets, {99}).shorts(tag::StripByteCounts, {77});
  Directory const dir = builder.directory();
  std::vector<std::string> warnings;
  Image image = parse_image(dir, warnings);
  expect_range(BlockIndex(dir, image), 0, 99, 77);
}

TEST(BlockIndex, GivesRangesAsTheFileTellsThem) {
  TiffBuilder builder = image_of(true, 5);
  builder.longs(tag::TileOffsets, std::vector<std::uint32_t>(12, 0xFFFFFFF0))
      .longs(tag::TileByteCounts, std::vector<std::uint32_t>(12, 0xFFFFFFFF));
  expect_range(index_of(builder), 5, 0xFFFFFFF0, 0xFFFFFFFF);
}

TEST(BlockIndex, TellsSparseBlocksByTheirSize) {
  TiffBuilder builder = image_of(true, 5);
  auto offsets = counting(100, 10, 12);
  auto counts = counting(10, 0, 12);
  offsets[4] = counts[4] = 0;
  counts[6] = 0;
  builder.longs(tag::TileOffsets, offsets).longs(tag::TileByteCounts, counts);
  BlockIndex const index = index_of(builder);
  EXPECT_EQ(index.range(4).size_bytes, 0u);
  EXPECT_EQ(index.range(6).size_bytes, 0u);
  EXPECT_EQ(index.range(5).size_bytes, 10u);
}

TEST(BlockIndex, RefusesADirectoryWithoutOffsets) {
  expect_refused(image_of(true, 5));
  expect_refused(image_of(false, 5));
}

TEST(BlockIndex, RefusesOffsetsThatCannotBeRead) {
  TiffBuilder real = image_of(true, 5), nothing = image_of(true, 5), past_end = image_of(true, 5);
  real.doubles(tag::TileOffsets, std::vector<double>(12, 8.0));
  nothing.raw(tag::TileOffsets, 4, 0, {});
  past_end.raw(tag::TileOffsets, 4, 12'000'000, std::vector<std::byte>(48));
  expect_refused(real);
  expect_refused(nothing);
  expect_refused(past_end);
}

TEST(BlockIndex, TakesTheTagsOfStripsForTilesAndTheOtherWay) {
  TiffBuilder tiles = image_of(true, 5), strips = image_of(false, 5);
  tiles.longs(tag::StripOffsets, counting(100, 1, 12)).longs(tag::StripByteCounts, counting(1, 1, 12));
  strips.longs(tag::TileOffsets, counting(100, 1, 3)).longs(tag::TileByteCounts, counting(1, 1, 3));
  expect_range(index_of(tiles), 11, 111, 12);
  expect_range(index_of(strips), 2, 102, 3);
}

TEST(BlockIndex, TakesBlocksOfAShortListAsSparse) {
  TiffBuilder builder = image_of(true, 5);
  builder.longs(tag::TileOffsets, counting(100, 10, 5)).longs(tag::TileByteCounts, counting(10, 0, 12));
  BlockIndex const index = index_of(builder);
  expect_range(index, 4, 140, 10);
  expect_range(index, 5, 0, 0);
  TiffBuilder short_counts = image_of(true, 5);
  short_counts.longs(tag::TileOffsets, counting(100, 10, 12)).longs(tag::TileByteCounts, counting(10, 0, 5));
  EXPECT_EQ(index_of(short_counts).range(4).size_bytes, 10u);
  EXPECT_EQ(index_of(short_counts).range(5).size_bytes, 0u);
}

TEST(BlockIndex, RefusesAListThatLeavesMillionsOfBlocksOut) {
  TiffBuilder builder;
  builder.longs(tag::ImageWidth, {2'000'000})
      .longs(tag::ImageLength, {1})
      .longs(tag::TileWidth, {1})
      .longs(tag::TileLength, {1})
      .longs(tag::TileOffsets, {8, 9});
  expect_refused(builder);
}

TEST(BlockIndex, WorksOutMissingSizesOfUncompressedBlocks) {
  TiffBuilder strips = image_of(false, 1), tiles = image_of(true, 1);
  strips.longs(tag::StripOffsets, {100, 2000, 4000});
  tiles.longs(tag::TileOffsets, counting(100, 256, 12));
  BlockIndex const strip_index = index_of(strips);
  expect_range(strip_index, 0, 100, 16 * 64);
  expect_range(strip_index, 2, 4000, 8 * 64);
  BlockIndex const tile_index = index_of(tiles);
  expect_range(tile_index, 0, 100, 256);
  expect_range(tile_index, 11, 100 + 11 * 256, 256);
}

TEST(BlockIndex, WorksOutMissingSizesOfCompressedBlocksFromTheNext) {
  TiffBuilder builder = image_of(false, 5);
  builder.longs(tag::StripOffsets, {100, 150, 1000});
  BlockIndex const index = index_of(builder);
  std::uint64_t const file_bytes = builder.bytes().size();
  expect_range(index, 0, 100, 50);
  expect_range(index, 1, 150, 850);
  expect_range(index, 2, 1000, file_bytes - 1000);
}

TEST(BlockIndex, WorksOutMissingSizesOfBlocksInNoOrder) {
  TiffBuilder builder = image_of(false, 5);
  builder.longs(tag::StripOffsets, {1000, 100, 0xFFFFFFFF});
  BlockIndex const index = index_of(builder);
  std::uint64_t const file_bytes = builder.bytes().size();
  expect_range(index, 0, 1000, file_bytes - 1000);
  EXPECT_EQ(index.range(2).size_bytes, 0u) << "past the end there is nothing";
  TiffBuilder sparse = image_of(false, 5);
  sparse.longs(tag::StripOffsets, {0, 100, 200});
  EXPECT_EQ(index_of(sparse).range(0).size_bytes, 0u) << "no offset: not in the file";
}

TEST(BlockIndex, MendsTheCountOfOneUncompressedStrip) {
  for (std::uint32_t const count : {0u, 10u, 0xFFFFFFFFu}) {
    TiffBuilder builder = image_of(false, 1);
    builder.longs(tag::StripOffsets, {64}).longs(tag::StripByteCounts, {count});
    Directory const dir = builder.directory();
    std::vector<std::string> warnings;
    Image image = parse_image(dir, warnings);
    image.block_height_px = 40;  // one strip
    image.blocks_down = 1;
    expect_range(BlockIndex(dir, image), 0, 64, 64 * 40);
  }
}

TEST(BlockIndex, MendsUncompressedStripsWhoseFirstCountsDiffer) {
  TiffBuilder builder = image_of(false, 1);
  builder.longs(tag::StripOffsets, {100, 1124, 2148}).longs(tag::StripByteCounts, {7, 1024, 512});
  BlockIndex const index = index_of(builder);
  expect_range(index, 0, 100, 1024);
  expect_range(index, 2, 2148, 512);
}

TEST(BlockIndex, KeepsCountsOfUncompressedStripsThatAreRight) {
  TiffBuilder builder = image_of(false, 1);
  builder.longs(tag::StripOffsets, {100, 1124, 2148}).longs(tag::StripByteCounts, {1024, 1024, 600});
  expect_range(index_of(builder), 2, 2148, 600);
}

TEST(BlockIndex, IgnoresCountsThatCannotBeRead) {
  TiffBuilder builder = image_of(true, 1);
  builder.longs(tag::TileOffsets, counting(100, 256, 12))
      .raw(tag::TileByteCounts, 4, 1'000'000, std::vector<std::byte>(48));
  expect_range(index_of(builder), 3, 100 + 3 * 256, 256);
}

// ---------------------------------------------------------------------------------------------------------------
// Ten million tiles: 3,200 x 3,125 of 256 px; offsets and byte counts are 120 MB that nobody has written anywhere.

constexpr std::uint64_t kTiles = 10'000'000;
constexpr std::uint64_t kOffsetsAt = 1'000'000, kCountsAt = kOffsetsAt + 8 * kTiles, kEnd = kCountsAt + 4 * kTiles;

std::uint64_t offset_of(std::uint64_t tile) { return (std::uint64_t{1} << 36) + tile * 100'003; }
std::uint32_t count_of(std::uint64_t tile) { return static_cast<std::uint32_t>(tile % 65'521 + 1); }

std::shared_ptr<CountingSource> ten_million_tiles() {
  std::vector<std::byte> front;
  auto const put = [&](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) { front.push_back(static_cast<std::byte>(value >> (8 * i))); }
  };
  auto const entry = [&](std::uint16_t t, std::uint16_t type, std::uint64_t n, std::uint64_t value) {
    put(t, 2);
    put(type, 2);
    put(n, 8);
    put(value, 8);
  };
  put(0x4949, 2);
  put(43, 2);
  put(8, 2);
  put(0, 2);
  put(16, 8);
  put(8, 8);
  entry(tag::ImageWidth, 4, 1, 3200 * 256);
  entry(tag::ImageLength, 4, 1, 3125 * 256);
  entry(tag::BitsPerSample, 3, 1, 8);
  entry(tag::Compression, 3, 1, 8);
  entry(tag::TileWidth, 3, 1, 256);
  entry(tag::TileLength, 3, 1, 256);
  entry(tag::TileOffsets, 16, kTiles, kOffsetsAt);
  entry(tag::TileByteCounts, 4, kTiles, kCountsAt);
  put(0, 8);
  auto const byte_at = [](std::uint64_t at) {
    if (at >= kCountsAt && at < kEnd) {
      return static_cast<std::byte>(count_of((at - kCountsAt) / 4) >> (8 * ((at - kCountsAt) % 4)));
    }
    if (at >= kOffsetsAt) {
      return static_cast<std::byte>(offset_of((at - kOffsetsAt) / 8) >> (8 * ((at - kOffsetsAt) % 8)));
    }
    return std::byte{};
  };
  return std::make_shared<CountingSource>(std::make_shared<SyntheticSource>(std::move(front), kEnd, byte_at));
}

TEST(BlockIndexOfTenMillionTiles, IsOpenedWithoutReadingTheIndex) {
  auto const source = ten_million_tiles();
  Directory const dir = read_chain(source).directories.at(0);
  std::vector<std::string> warnings;
  BlockIndex const index(dir, parse_image(dir, warnings));
  EXPECT_LE(source->bytes, 16u * 1024);
  EXPECT_EQ(source->submits, 1u);
}

TEST(BlockIndexOfTenMillionTiles, ReadsThePagesOfAWindowOnly) {
  auto const source = ten_million_tiles();
  Directory const dir = read_chain(source).directories.at(0);
  std::vector<std::string> warnings;
  BlockIndex const index(dir, parse_image(dir, warnings));
  std::uint64_t const before = source->bytes;
  // Two by two tiles in the middle.
  for (std::uint64_t const row : {1500u, 1501u}) {
    for (std::uint64_t const column : {1600u, 1601u}) {
      std::uint64_t const tile = row * 3200 + column;
      expect_range(index, tile, offset_of(tile), count_of(tile));
    }
  }
  EXPECT_LE(source->bytes - before, 2u * 2 * 2 * 4096) << "at most two pages of each list a row";
  expect_range(index, kTiles - 1, offset_of(kTiles - 1), count_of(kTiles - 1));
}

TEST(BlockIndexOfTenMillionTiles, ServesManyThreads) {
  Directory const dir = read_chain(ten_million_tiles()).directories.at(0);
  std::vector<std::string> warnings;
  BlockIndex const index(dir, parse_image(dir, warnings));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        std::uint64_t const tile = (i * 198'491'317 + t * 7919) % kTiles;
        BlockRange const range = index.range(tile);
        wrong += range.offset_bytes != offset_of(tile) || range.size_bytes != count_of(tile);
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace terrazzo::tiff
