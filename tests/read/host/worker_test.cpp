// SPDX-License-Identifier: Apache-2.0
//
// Missing, bad and surplus blocks. Also run under ThreadSanitizer.
#include "read/host/worker.hpp"

#include "read/deflate_image.hpp"
#include "read/small_tiles.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;
using test::tiles;
using test::with_edit;

// ---------------------------------------------------------------------------------------------------------------
// Two blocks at once

ImageSpec const kPairs{.width = 600, .height = 1000, .bands = 2, .tile_width = 256, .tile_height = 256};

TEST(PairsOfBlocks, GiveThePixelsOfEach) {
  Opened const opened(deflate_image(kPairs));
  for (unsigned const threads : {1u, 2u, 3u}) {
    ReadReport report;
    auto const values = values_of<std::uint16_t>(read(*opened, {.threads = threads}, &report));
    EXPECT_EQ(report.tiles, 12u);
    for (std::uint32_t b = 0; b < 2; ++b) {
      for (std::uint32_t r = 0; r < 1000; ++r) {
        for (std::uint32_t c = 0; c < 600; ++c) {
          ASSERT_EQ(values[(b * 1000 + r) * 600 + c], noise_at(b, r, c)) << b << " " << r << "," << c;
        }
      }
    }
  }
}

TEST(PairsOfBlocks, OfAWindowGoToTheCacheWhole) {
  Opened const opened(deflate_image(kPairs));
  ReadRequest const request{.window = Window{100, 200, 300, 500}, .threads = 1};
  for (int turn = 0; turn < 2; ++turn) {  // decoded, then from the cache
    auto const values = values_of<std::uint16_t>(read(*opened, request));
    for (std::uint32_t r = 0; r < 500; ++r) {
      for (std::uint32_t c = 0; c < 300; ++c) { ASSERT_EQ(values[r * 300 + c], noise_at(0, r + 200, c + 100)); }
    }
  }
}

// A missing or damaged block does not change its partner, and gives the result that it gives alone.
TEST(PairsOfBlocks, KeepTheirTroublesApart) {
  ImageSpec spec = kPairs;
  spec.edit = [](std::uint64_t block, Bytes& bytes) {
    if (block == 1) { bytes.clear(); }
    if (block == 4) { bytes.back() ^= std::byte{1}; }  // of the checksum
    if (block == 7) { bytes.resize(bytes.size() / 2); }
    if (block == 8) { bytes.push_back(std::byte{0}); }
  };
  Opened const opened(deflate_image(spec));
  EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.threads = 1})); }).where().tile, (TileId{1, 1, 0}));
  ReadReport report;
  auto const values = values_of<std::uint16_t>(read(*opened, {.bad_tile = BadTile::fill, .threads = 1}, &report));
  ASSERT_EQ(report.bad_tiles.size(), 2u);
  EXPECT_EQ(report.bad_tiles[0].tile, (TileId{1, 1, 0}));
  EXPECT_EQ(report.bad_tiles[1].tile, (TileId{1, 2, 0}));
  EXPECT_EQ(report.sparse_tiles, 1u);
  EXPECT_EQ(report.surplus_tiles, 1u);
  EXPECT_EQ(report.tiles, 9u);
  for (std::uint32_t r = 0; r < 1000; ++r) {
    for (std::uint32_t c = 0; c < 600; ++c) {
      std::uint32_t const block = r / 256 * 3 + c / 256;
      if (block == 7) { continue; }  // good as far as it goes
      bool const is_gone = block == 1 || block == 4;
      ASSERT_EQ(values[r * 600 + c], is_gone ? 0 : noise_at(0, r, c)) << r << "," << c;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Sparse blocks

TEST(SparseBlocks, BecomeNodata) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    testing::TiffBuilder builder =
        image<std::int16_t>(with_edit(tiles(compression), [](std::uint64_t block, Bytes& bytes) {
          if (block % 3 == 1) { bytes.clear(); }
        }));
    builder.ascii(42113, "-9999");
    Opened const opened(builder);
    ReadReport report;
    auto const values = values_of<std::int16_t>(read(*opened, {.threads = 3}, &report));
    for (std::uint32_t r = 0; r < 64; ++r) {
      for (std::uint32_t c = 0; c < 64; ++c) {
        bool const sparse = (r / 16 * 4 + c / 16) % 3 == 1;
        ASSERT_EQ(values[r * 64 + c], sparse ? -9999 : value_at<std::int16_t>(0, r, c)) << r << "," << c;
      }
    }
    EXPECT_EQ(report.sparse_tiles, 5u);
    EXPECT_EQ(report.tiles, 11u);
  }
}

TEST(SparseBlocks, BecomeZeroWithoutNodataAndNanWhenMasked) {
  auto const nothing = [](std::uint64_t, Bytes& bytes) { bytes.clear(); };
  Opened const plain(image<float>(with_edit(tiles(), nothing)));
  for (float const v : values_of<float>(read(*plain))) { ASSERT_EQ(v, 0); }
  testing::TiffBuilder builder = image<float>(with_edit(tiles(), nothing));
  builder.ascii(42113, "5");
  Opened const marked(builder);
  for (float const v : values_of<float>(read(*marked, {.masked = true}))) { ASSERT_NE(v, v); }
  for (float const v : values_of<float>(read(*marked))) { ASSERT_EQ(v, 5); }
}

TEST(SparseBlocks, IgnoreANodataThatNoPixelCanHave) {
  testing::TiffBuilder builder =
      image<std::uint8_t>(with_edit(tiles(), [](std::uint64_t, Bytes& bytes) { bytes.clear(); }));
  builder.ascii(42113, "-9999");
  Opened const opened(builder);
  for (std::uint8_t const v : values_of<std::uint8_t>(read(*opened))) { ASSERT_EQ(v, 0); }
}

TEST(SparseBlocks, KeepSixtyFourBitNodataExact) {
  testing::TiffBuilder builder =
      image<std::uint64_t>(with_edit(tiles(), [](std::uint64_t, Bytes& bytes) { bytes.clear(); }));
  builder.ascii(42113, "18446744073709551615");
  Opened const opened(builder);
  for (std::uint64_t const v : values_of<std::uint64_t>(read(*opened))) { ASSERT_EQ(v, ~std::uint64_t{0}); }
}

TEST(SparseBlocks, FillEveryBandOfTheirPlaneOnly) {
  ImageSpec spec = tiles();
  spec.bands = 2;
  spec.separate = true;
  Opened const opened(image<std::uint8_t>(with_edit(spec, [](std::uint64_t block, Bytes& bytes) {
    if (block >= 16) { bytes.clear(); }  // the second plane
  })));
  auto const values = values_of<std::uint8_t>(read(*opened, {.bands = {2, 1, 2}}));
  auto const one = expected<std::uint8_t>({0, 0, 64, 64}, {1});
  EXPECT_TRUE(std::equal(one.begin(), one.end(), values.begin() + 64 * 64));
  EXPECT_TRUE(std::all_of(values.begin(), values.begin() + 64 * 64, [](std::uint8_t v) { return v == 0; }));
  EXPECT_TRUE(std::all_of(values.end() - 64 * 64, values.end(), [](std::uint8_t v) { return v == 0; }));
}

// ---------------------------------------------------------------------------------------------------------------
// Bad blocks

// Blocks 5, 6 and 11 end early: after seven and a half rows.
ImageSpec with_bad_tiles() {
  return with_edit(tiles(), [](std::uint64_t block, Bytes& bytes) {
    if (block == 5 || block == 6 || block == 11) { bytes.resize(1 + 7 * 16 + 8); }
  });
}

TEST(BadBlocks, FailTheReadByDefault) {
  Opened const opened(image<std::uint8_t>(with_bad_tiles()));
  Error const error = failure_of([&] { static_cast<void>(read(*opened)); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.where().source, "memory.tif");
  EXPECT_EQ(error.where().ifd, 0u);
  EXPECT_TRUE(error.where().offset);
  EXPECT_EQ(error.message().substr(0, 9), "packbits:");
}

TEST(BadBlocks, ReportTheFirstInTileOrderWhateverTheThreads) {
  // Raw blocks fail while they are read, packed ones while they are decoded.
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    Opened const opened(image<float>(
        with_edit({.width = 2560, .height = 640, .tile_width = 64, .tile_height = 64, .compression = compression},
                  [](std::uint64_t block, Bytes& bytes) {
                    if (block >= 70 && block % 7 == 0) { bytes.resize(16); }
                  })));
    ASSERT_EQ(plan(*opened, {.threads = 3}).threads(), 3u);
    for (int round = 0; round < 10; ++round) {
      for (unsigned const threads : {1u, 2u, 5u}) {
        Error const error = failure_of([&] { static_cast<void>(read(*opened, {.threads = threads})); });
        ASSERT_EQ(error.where().tile, (TileId{30, 1, 0})) << "block 70, with " << threads << " threads";
      }
    }
  }
}

TEST(BadBlocks, AreNoTroubleOutsideTheWindow) {
  Opened const opened(image<std::uint8_t>(with_bad_tiles()));
  Window const window{0, 0, 64, 16};
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window})), expected<std::uint8_t>(window, {1}));
}

TEST(BadBlocks, AreFilledOnRequestAndTheirGoodRowsKept) {
  testing::TiffBuilder builder = image<std::uint8_t>(with_bad_tiles());
  builder.ascii(42113, "255");
  Opened const opened(builder);
  for (unsigned const threads : {1u, 4u}) {
    ReadReport report;
    auto const values =
        values_of<std::uint8_t>(read(*opened, {.bad_tile = BadTile::fill, .threads = threads}, &report));
    for (std::uint32_t r = 0; r < 64; ++r) {
      for (std::uint32_t c = 0; c < 64; ++c) {
        std::uint32_t const block = r / 16 * 4 + c / 16;
        bool const bad = (block == 5 || block == 6 || block == 11) && r % 16 >= 7;
        ASSERT_EQ(values[r * 64 + c], bad ? 255 : value_at<std::uint8_t>(0, r, c)) << r << "," << c;
      }
    }
    ASSERT_EQ(report.bad_tiles.size(), 3u);
    EXPECT_EQ(report.bad_tiles[0].tile, (TileId{1, 1, 0}));
    EXPECT_EQ(report.bad_tiles[1].tile, (TileId{2, 1, 0}));
    EXPECT_EQ(report.bad_tiles[2].tile, (TileId{3, 2, 0}));
    EXPECT_EQ(report.bad_tiles[0].kind, ErrorKind::malformed);
    EXPECT_FALSE(report.bad_tiles[0].message.empty());
    EXPECT_EQ(report.tiles, 13u);
  }
}

TEST(BadBlocks, ThatLieOutsideTheFileAreBadToo) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    testing::TiffBuilder builder = image<std::uint8_t>(tiles(compression));
    Bytes bytes = builder.bytes();
    // Cuts nothing: the directory is behind the pixels. Tile 3's offset is pointed past the end instead.
    auto const dir = builder.directory();
    std::uint64_t const at = dir.find(324)->value_offset_bytes + 4 * 3;
    std::memset(bytes.data() + at, 0x7F, 4);
    Dataset const dataset = open_memory(bytes, "m");
    EXPECT_EQ(failure_of([&] { static_cast<void>(read(dataset)); }).where().tile, (TileId{3, 0, 0}));
    ReadReport report;
    auto const values = values_of<std::uint8_t>(read(dataset, {.bad_tile = BadTile::fill}, &report));
    EXPECT_EQ(values[63], 0);
    EXPECT_EQ(values[47], value_at<std::uint8_t>(0, 0, 47));
    EXPECT_EQ(report.bad_tiles.size(), 1u);
  }
}

TEST(BadBlocks, OfOneHugeStripAreListedOnce) {
  // 9 MiB in one strip are read in pieces; the last of them are missing.
  testing::TiffBuilder builder;
  std::uint32_t const width = 1024, height = 9216;
  std::uint64_t const at = builder.data(Bytes(std::size_t{width} * 5000, std::byte{9}));
  builder.longs(256, {width})
      .longs(257, {height})
      .shorts(258, {8})
      .longs(273, {static_cast<std::uint32_t>(at)})
      .longs(278, {height});
  Opened const opened(builder);
  ReadReport report;
  auto const values = values_of<std::uint8_t>(read(*opened, {.bad_tile = BadTile::fill, .threads = 3}, &report));
  EXPECT_EQ(report.bad_tiles.size(), 1u);
  EXPECT_EQ(values.front(), 9);
  EXPECT_EQ(values.back(), 0);
}

// Rows of 4096 bytes, so that a piece of 1 MiB has 256 of them; 700 and a half are there, in the third piece.
template <class T>
void expect_rows_that_are_there(std::endian order, Window const& window) {
  std::uint32_t const width = 4096 / sizeof(T), height = 1200, good = 700;
  Opened const opened(image<T>(with_edit({.width = width, .height = height, .order = order},
                                         [](std::uint64_t, Bytes& bytes) { bytes.resize(4096 * 700 + 2048); })));
  ReadReport report;
  auto const values = values_of<T>(read(*opened, {.window = window, .bad_tile = BadTile::fill, .threads = 3}, &report));
  for (std::uint32_t r = 0; r < window.height; ++r) {
    for (std::uint32_t c = 0; c < window.width; ++c) {
      bool const there = window.row + r < good;
      ASSERT_EQ(values[r * window.width + c], there ? value_at<T>(0, window.row + r, window.column + c) : T{})
          << r << "," << c;
    }
  }
  EXPECT_EQ(report.bad_tiles.size(), window.row + window.height > good ? 1u : 0u);
}

TEST(BadBlocks, OfManyPiecesAreNotCountedAsGood) {
  ImageSpec spec{.width = 1000, .height = 5000};  // one strip, five pieces, of which the first three are there
  spec.edit = [](std::uint64_t, Bytes& bytes) { bytes.resize(3500 * 1000); };
  Opened const opened(image<std::uint8_t>(spec));
  ReadReport report;
  static_cast<void>(read(*opened, {.bad_tile = BadTile::fill, .threads = 2}, &report));
  EXPECT_EQ(report.tiles, 0u);
  EXPECT_EQ(report.bad_tiles.size(), 1u);
}

TEST(BadBlocks, ThatAreShortAndNotCompressedKeepTheRowsThatAreThere) {
  // Straight into the result; and, for their byte order or short rows, by way of a buffer.
  expect_rows_that_are_there<std::uint8_t>(std::endian::little, {0, 0, 4096, 1200});
  expect_rows_that_are_there<std::uint16_t>(std::endian::big, {0, 0, 2048, 1200});
  expect_rows_that_are_there<std::uint8_t>(std::endian::little, {100, 650, 50, 100});
  expect_rows_that_are_there<std::uint8_t>(std::endian::little, {0, 600, 4096, 100});
  expect_rows_that_are_there<std::uint16_t>(std::endian::big, {3, 701, 60, 20});
}

TEST(BadBlocks, ThatTheFileEndsInKeepTheRowsThatAreThere) {
  // The strip's offset is moved so far back that 60 rows are left before the end of the file.
  testing::TiffBuilder builder = image<std::uint8_t>({.width = 4096, .height = 100});
  Bytes bytes = builder.bytes();
  std::uint64_t const at = builder.directory().find(273)->value_offset_bytes;
  auto const moved = static_cast<std::uint32_t>(bytes.size() - 4096 * 60 - 5);
  std::memcpy(bytes.data() + at, &moved, 4);
  Dataset const dataset = open_memory(bytes, "m");
  ReadReport report;
  auto const values = values_of<std::uint8_t>(read(dataset, {.bad_tile = BadTile::fill}, &report));
  EXPECT_EQ(std::memcmp(values.data(), bytes.data() + moved, 4096 * 60), 0);
  EXPECT_TRUE(std::all_of(values.begin() + 4096 * 60, values.end(), [](std::uint8_t v) { return v == 0; }));
  ASSERT_EQ(report.bad_tiles.size(), 1u);
  EXPECT_NE(report.bad_tiles[0].message.find("past the end"), std::string::npos);
}

TEST(BadBlocks, InAFileThatShrinksAreAnIoError) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    testing::TempFolder const folder;
    // The directory is at the end, so the tile index must be in the reader's cache before the file is cut.
    std::string const path = folder.write(
        "a.tif", image<std::uint8_t>(
                     {.width = 256, .height = 256, .tile_width = 64, .tile_height = 64, .compression = compression})
                     .bytes());
    Dataset const dataset = open(path);
    ReadPlan const p = plan(dataset);
    for (std::uint64_t i = 0; i < p.tile_count(); ++i) { static_cast<void>(p.tile(i)); }
    EXPECT_NO_THROW(static_cast<void>(read(dataset)));
    std::filesystem::resize_file(path, 5000);
    Error const error = failure_of([&] { static_cast<void>(read(dataset, {.threads = 3})); });
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    EXPECT_EQ(failure_of([&] { static_cast<void>(read(dataset, {.bad_tile = BadTile::fill})); }).kind(), ErrorKind::io)
        << "a source that fails is not a bad tile";
  }
}

// Tiles that share a read with unreadable ones are decoded too: the error is that of the first bad tile.
TEST(BadBlocks, ComeBeforeASourceThatFailsLater) {
  testing::TempFolder const folder;
  ImageSpec const spec{.width = 256, .height = 256, .tile_width = 64, .tile_height = 64, .compression = kPackBits};
  std::string const path = folder.write("a.tif", image<std::uint8_t>(with_edit(spec, [](std::uint64_t block, Bytes& b) {
                                                   if (block == 0) { b.resize(b.size() / 2); }
                                                 })).bytes());
  Dataset const dataset = open(path);
  ReadPlan const p = plan(dataset);
  for (std::uint64_t i = 0; i < p.tile_count(); ++i) { static_cast<void>(p.tile(i)); }
  std::filesystem::resize_file(path, 5000);
  Error const error = failure_of([&] { static_cast<void>(read(dataset, {.threads = 1})); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed) << error.what();
  EXPECT_EQ(error.where().tile, (TileId{0, 0, 0}));
}

// ---------------------------------------------------------------------------------------------------------------
// Surplus

TEST(SurplusData, IsIgnoredAndCounted) {
  Opened const opened(image<std::uint8_t>(with_edit(tiles(), [](std::uint64_t block, Bytes& bytes) {
    if (block == 2 || block == 9) { bytes.insert(bytes.end(), 20, std::byte{5}); }
  })));
  ReadReport report;
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {}, &report)), (expected<std::uint8_t>({0, 0, 64, 64}, {1})));
  EXPECT_EQ(report.surplus_tiles, 2u);
  EXPECT_EQ(report.tiles, 16u);
}

TEST(SurplusData, IsAnErrorWhenStrict) {
  Opened const opened(image<std::uint8_t>(with_edit(tiles(), [](std::uint64_t block, Bytes& bytes) {
    if (block == 2 || block == 9) { bytes.insert(bytes.end(), 20, std::byte{5}); }
  })));
  for (unsigned const threads : {1u, 4u}) {
    Error const error = failure_of([&] { static_cast<void>(read(*opened, {.strict = true, .threads = threads})); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.where().tile, (TileId{2, 0, 0}));
  }
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.window = Window{0, 0, 16, 16}, .strict = true})));
}

TEST(SurplusData, IsAnErrorWhenStrictAlsoOfACachedBlock) {
  Opened const opened(image<std::uint8_t>(with_edit(tiles(), [](std::uint64_t block, Bytes& bytes) {
    if (block == 0) { bytes.insert(bytes.end(), 20, std::byte{5}); }
  })));
  Window const part{1, 1, 4, 4};  // of a block that a partial read leaves in the cache
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.window = part})));
  EXPECT_THROW(static_cast<void>(read(*opened, {.window = part, .strict = true})), Error);
}
}  // namespace
}  // namespace terrazzo::reading
