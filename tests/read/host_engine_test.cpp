// SPDX-License-Identifier: Apache-2.0
//
// What becomes of missing, bad and surplus blocks; progress and cancellation. Also run under ThreadSanitizer.
#include "read/host_engine.hpp"

#include "codec/encoder.hpp"
#include "read/images.hpp"
#include "support/sources.hpp"
#include "support/temp_folder.hpp"
#include "tile/predict.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;

ImageSpec tiles(std::uint16_t compression = kPackBits) {
  return {.width = 64, .height = 64, .tile_width = 16, .tile_height = 16, .compression = compression};
}

ImageSpec with_edit(ImageSpec spec, std::function<void(std::uint64_t, Bytes&)> edit) {
  spec.edit = std::move(edit);
  return spec;
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

// ---------------------------------------------------------------------------------------------------------------
// Kinds of errors

TEST(KindOfABadBlock, IsALimitOnlyForWantOfMemory) {
  using tile::TileStatus;
  auto const kind = [](TileStatus status, char const* reason) { return kind_of({.status = status, .reason = reason}); };
  EXPECT_EQ(kind(TileStatus::failed, "out of memory"), ErrorKind::limit);
  EXPECT_EQ(kind(TileStatus::failed, "the codec library threw an exception"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::failed, "libtiff knows the block by another size"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::failed, nullptr), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::unsupported, "progressive"), ErrorKind::unsupported);
  EXPECT_EQ(kind(TileStatus::corrupt, "out of memory"), ErrorKind::malformed);
  EXPECT_EQ(kind(TileStatus::truncated, "ends early"), ErrorKind::malformed);
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

// ---------------------------------------------------------------------------------------------------------------
// Blocks that are not compressed, in pieces

TEST(RawPieces, OfOneHugeStripGiveTheSamePixels) {
  std::uint32_t const width = 1000, height = 9000;  // 9 MB in one strip
  Opened const opened(image<std::uint8_t>({.width = width, .height = height}));
  ASSERT_EQ(plan(*opened, {.threads = 4}).threads(), 4u);
  ReadReport report;
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.threads = 4}, &report)),
            (expected<std::uint8_t>({0, 0, width, height}, {1})));
  EXPECT_EQ(report.tiles, 1u) << "one block, whatever its pieces";
  EXPECT_EQ(report.bytes_read, std::uint64_t{width} * height);
  Window const window{7, 1040, 90, 900};  // starts and ends inside pieces
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window, .threads = 4}, &report)),
            expected<std::uint8_t>(window, {1}));
  EXPECT_EQ(report.tiles, 1u);
  EXPECT_EQ(report.bytes_read, 900u * 1000) << "short rows are read whole: one call is cheaper than 900";
}

TEST(RawPieces, OfLongRowsReadTheWindowOnly) {
  Opened const opened(image<std::uint8_t>({.width = 70'000, .height = 40}));
  ReadReport report;
  Window const window{1000, 3, 40'000, 30};
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened, {.window = window}, &report)), expected<std::uint8_t>(window, {1}));
  EXPECT_EQ(report.bytes_read, 40'000u * 30);
}

TEST(RawPieces, NeedLittleMemoryBesidesTheResult) {
  std::uint32_t const width = 1000, height = 4000;  // 8 MB in one strip, big-endian: it cannot be read in place
  Opened const opened(image<std::uint16_t>({.width = width, .height = height, .order = std::endian::big}));
  Window const window{0, 1000, width, 1000};
  HostArray const array =
      read(*opened, {.window = window, .threads = 2, .memory_limit_bytes = (2u << 20) + (4u << 20)});
  EXPECT_EQ(values_of<std::uint16_t>(array), expected<std::uint16_t>(window, {1}));
}

TEST(RawPieces, AreUnderTheMemoryLimitToo) {
  Opened const opened(image<std::uint16_t>({.width = 100'000, .height = 2, .order = std::endian::big}));
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(read(*opened, {.window = Window{0, 0, 1, 1}, .memory_limit_bytes = 1000}));
            }).kind(),
            ErrorKind::limit)
      << "a row of 200 KB has to be read for it";
}

// ---------------------------------------------------------------------------------------------------------------
// Results larger than the caches are written past them. 7 x 7 tiles, all the same one, so that the file is small.

TEST(LargeResults, AreTheSamePixels) {
  constexpr std::uint32_t kTile = 512, kTilesAcross = 14;
  for (std::uint16_t const bands : {std::uint16_t{1}, std::uint16_t{3}}) {
    std::uint32_t const across = bands == 1 ? kTilesAcross : kTilesAcross / 2 + 1, side = across * kTile - 3;
    Bytes pixels(std::size_t{kTile} * kTile * bands);
    for (std::size_t i = 0; i < pixels.size(); ++i) { pixels[i] = static_cast<std::byte>(i * 2654435761u >> 9); }
    Bytes const packed = packbits(pixels);
    testing::TiffBuilder builder;
    auto const at = static_cast<std::uint32_t>(builder.data(packed));
    builder.longs(256, {side})
        .longs(257, {side})
        .shorts(258, std::vector<std::uint16_t>(bands, 8))
        .shorts(259, {kPackBits})
        .shorts(277, {bands});
    builder.longs(322, {kTile}).longs(323, {kTile}).longs(324, std::vector<std::uint32_t>(across * across, at));
    builder.longs(325, std::vector<std::uint32_t>(across * across, static_cast<std::uint32_t>(packed.size())));
    Opened const opened(builder);
    ASSERT_GE(plan(*opened).result_bytes(), 32u << 20);
    HostArray const array = read(*opened, {.threads = 3});
    std::span<std::byte const> const bytes = array.bytes();
    std::vector<std::byte> row(side);
    for (std::uint32_t b = 0; b < bands; ++b) {
      for (std::uint32_t r = 0; r < side; ++r) {
        for (std::uint32_t c = 0; c < side; ++c) {
          row[c] = pixels[((r % kTile) * std::size_t{kTile} + c % kTile) * bands + b];
        }
        ASSERT_EQ(std::memcmp(row.data(), bytes.data() + (std::size_t{b} * side + r) * side, side), 0)
            << "band " << b << " row " << r;
      }
    }
  }
}

// Tiles of floats with predictor 3, or stored as they are, all the same one but for two in the uppermost row, which end
// in the middle and right after their beginning. The window begins inside that row of tiles.
void expect_streamed_floats(std::uint16_t compression, std::uint32_t tile) {
  std::uint32_t const across = 3072 / tile, above = 100;
  std::vector<float> pixels(std::size_t{tile} * tile);
  for (std::size_t i = 0; i < pixels.size(); ++i) { pixels[i] = static_cast<float>(i * 2654435761u >> 12) / 16; }
  Bytes stored(pixels.size() * 4);
  codec::EncodedBlock packed;
  if (compression == kNone) {
    std::memcpy(stored.data(), pixels.data(), stored.size());
    packed.bytes = stored;
  } else {
    for (std::size_t r = 0; r < tile; ++r) {
      tile::apply_float_row(reinterpret_cast<std::byte const*>(pixels.data() + r * tile), stored.data() + r * tile * 4,
                            tile, 1, 4);
    }
    codec::Workspace workspace;
    codec::EncodeFormat format;
    format.block.bits_per_sample = 32;
    auto const* const encoder = codec::find_encoder(static_cast<tiff::Compression>(compression));
    ASSERT_EQ(encoder->encode(format, {tile, tile}, stored, packed, workspace).status, tile::TileStatus::ok);
  }
  testing::TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data({packed.bytes.begin(), packed.bytes.end()}));
  auto const size = static_cast<std::uint32_t>(packed.bytes.size());
  std::vector<std::uint32_t> sizes(across * across, size);
  sizes[1] = size / 2;
  sizes[2] = 64;
  builder.longs(256, {3072}).longs(257, {3072}).shorts(258, {32}).shorts(259, {compression}).shorts(339, {3});
  if (compression != kNone) { builder.shorts(317, {3}); }
  builder.longs(322, {tile}).longs(323, {tile}).longs(324, std::vector<std::uint32_t>(across * across, at));
  builder.longs(325, sizes);
  Opened const opened(builder);
  ReadRequest const request{.window = Window{0, above, 3072, 3072 - above}, .bad_tile = BadTile::fill, .threads = 3};
  ASSERT_GE(plan(*opened, request).result_bytes(), 32u << 20);
  ReadReport report;
  auto const values = values_of<float>(read(*opened, request, &report));
  EXPECT_EQ(report.bad_tiles.size(), 2u);
  std::uint32_t kept = 0;  // of the tile that ends in the middle
  for (std::uint32_t r = 0; r < 3072 - above; ++r) {
    for (std::uint32_t column = 0; column < across; ++column) {
      std::uint32_t const in_tile = (r + above) % tile;
      float const* const row = values.data() + std::size_t{r} * 3072 + column * tile;
      bool const same = std::memcmp(row, pixels.data() + std::size_t{in_tile} * tile, tile * 4) == 0;
      if (r + above >= tile || column == 0 || column > 2) {
        ASSERT_TRUE(same) << r << " " << column;
        continue;
      }
      bool const filled = std::all_of(row, row + tile, [](float v) { return v == 0; });
      ASSERT_TRUE(filled || (same && column == 1 && kept == r)) << r << " " << column;
      kept += column == 1 && same ? 1 : 0;
    }
  }
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept + above, tile);
}

TEST(LargeResults, OfFloatsBeginAnywhereAndKeepTheGoodRowsOfABadTile) {
  expect_streamed_floats(5, 512);
  expect_streamed_floats(5, 256);
  expect_streamed_floats(kNone, 256);  // rows too short to be read straight into the result
}

// ---------------------------------------------------------------------------------------------------------------
// Progress and cancellation

TEST(ReadProgress, GrowsToTheNumberOfTilesOneCallAtATime) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  for (unsigned const threads : {1u, 4u}) {
    std::atomic<int> inside{0};
    std::uint64_t last = 0;
    ReadRequest request{.threads = threads};
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(++inside, 1) << "two calls at once";
      EXPECT_EQ(total, 1600u);
      EXPECT_LE(done, total);
      EXPECT_GE(done, last);
      last = done;
      --inside;
      return true;
    };
    static_cast<void>(read(*opened, request));
    EXPECT_EQ(last, 1600u);
  }
}

TEST(ReadProgress, CountsTilesAlsoWhenTheyAreReadInPieces) {
  Opened const opened(image<std::uint8_t>({.width = 1000, .height = 3000}));
  std::set<std::uint64_t> totals;
  ReadRequest request{.threads = 2};
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    totals.insert(total);
    EXPECT_LE(done, 1u);
    return true;
  };
  static_cast<void>(read(*opened, request));
  EXPECT_EQ(totals, (std::set<std::uint64_t>{1}));
}

TEST(ReadProgress, CancelsWhenItSaysNo) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  for (unsigned const threads : {1u, 4u}) {
    int calls = 0;
    ReadRequest request{.threads = threads};
    request.progress = [&](std::uint64_t, std::uint64_t) { return ++calls < 3; };
    Error const error = failure_of([&] { static_cast<void>(read(*opened, request)); });
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    EXPECT_LT(calls, 25) << "it stops soon";
  }
}

TEST(ReadProgress, PassesItsOwnExceptionOn) {
  Opened const opened(image<std::uint8_t>(tiles()));
  ReadRequest request{.threads = 3};
  request.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("the caller's"); };
  EXPECT_THROW(static_cast<void>(read(*opened, request)), std::runtime_error);
  EXPECT_NO_THROW(static_cast<void>(read(*opened)));
}

struct CallersOwn : std::runtime_error {
  explicit CallersOwn(int n) : std::runtime_error("the caller's"), number(n) {}
  int number;
};

TEST(ReadProgress, ThatThrowsStopsTheOtherWorkersAndIsNotCalledAgain) {
  // 1,024 batches of 64 tiles, read through a source that counts.
  testing::TiffBuilder const builder = image<std::uint8_t>(
      {.width = 4096, .height = 4096, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  Opened const opened(builder);
  auto const source = std::make_shared<testing::CountingSource>(opened->shared_impl()->levels[0]->source);
  auto const chain = tiff::read_chain(source);
  std::vector<std::string> warnings;
  auto impl = std::make_shared<Dataset::Impl>(*opened->shared_impl());
  impl->levels[0] =
      std::make_shared<Level>(source, chain.directories[0], tiff::parse_image(chain.directories[0], warnings));
  Dataset const dataset(impl);
  int calls = 0;
  ReadRequest request{.threads = 4};
  request.progress = [&](std::uint64_t, std::uint64_t) -> bool { throw CallersOwn(++calls); };
  source->bytes = 0;
  try {
    static_cast<void>(read(dataset, request));
    ADD_FAILURE() << "it did not throw";
  } catch (CallersOwn const& error) { EXPECT_EQ(error.number, 1); }
  EXPECT_EQ(calls, 1);
  EXPECT_LT(source->bytes, builder.bytes().size() / 8) << "the others went on reading";
}

TEST(ReadCancel, StopsARead) {
  Opened const opened(image<std::uint8_t>(
      {.width = 640, .height = 640, .tile_width = 16, .tile_height = 16, .compression = kPackBits}));
  std::atomic<bool> cancel{true};
  for (unsigned const threads : {1u, 4u}) {
    Error const error = failure_of([&] { static_cast<void>(read(*opened, {.threads = threads, .cancel = &cancel})); });
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  cancel = false;
  EXPECT_NO_THROW(static_cast<void>(read(*opened, {.cancel = &cancel})));
}

// ---------------------------------------------------------------------------------------------------------------
// Reports

TEST(ReadReports, CountWhatWasDecodedAndFetched) {
  testing::TempFolder const folder;
  std::string const path = folder.write("a.tif", image<std::uint8_t>(tiles()).bytes());
  Dataset const dataset = open(path);
  ReadReport report;
  report.tiles = 77;  // a report is replaced, not added to
  static_cast<void>(read(dataset, {.window = Window{0, 0, 64, 32}}, &report));
  EXPECT_EQ(report.tiles, 8u);
  EXPECT_EQ(report.bytes_read, 8u * (256 + 2)) << "neighbours are one read, and nothing more";
  EXPECT_TRUE(report.bad_tiles.empty());
}

}  // namespace
}  // namespace terrazzo::reading
