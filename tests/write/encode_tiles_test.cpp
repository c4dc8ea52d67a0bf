// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/write.hpp"

#include "test_image.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::kind_of_failure;

WriteOptions tile_options(Image const& image) {
  WriteOptions options;
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.tile_size = {32, 16};
  options.level = 1;
  return options;
}

// The pixels of tiles [column, column + columns) x [row, row + rows).
HostView part_of(Image& image, TileSize tile, std::uint32_t column, std::uint32_t row, std::uint32_t columns,
                 std::uint32_t rows) {
  HostView view = image.view();
  std::uint32_t const x = column * tile.width, y = row * tile.height;
  view.data = static_cast<std::byte*>(view.data) + y * view.row_stride_bytes + x * view.pixel_stride_bytes;
  view.width = std::min(columns * tile.width, image.width - x);
  view.height = std::min(rows * tile.height, image.height - y);
  return view;
}

TEST(EncodeTiles, GivesTheSamePixelsInAnyOrderOfTiles) {
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    Image image = make_image(DType::f32, 2, 75, 150);
    WriteOptions options = tile_options(image);
    options.planar = planar;
    // In four parts, as four processes would.
    std::vector<EncodedTiles> parts;
    for (std::uint32_t const column : {0U, 3U}) {
      for (std::uint32_t const row : {0U, 2U}) {
        HostView const view = part_of(image, options.tile_size, column, row, 3, row == 0 ? 2 : 3);
        parts.push_back(encode_tiles(view, {column, row, 0}, image.width, image.height, options));
      }
    }
    std::vector<std::pair<std::size_t, EncodedTile>> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (EncodedTile const& tile : parts[i].tiles) { all.emplace_back(i, tile); }
    }
    ASSERT_EQ(all.size(), 25U * (planar == PlanarLayout::separate ? 2 : 1));
    std::mt19937 random(5);
    for (int round = 0; round < 4; ++round) {
      std::ranges::shuffle(all, random);
      std::vector<std::byte> file;
      Writer writer = create(memory_sink(file), image.width, image.height, options);
      for (auto const& [part, tile] : all) { writer.write_encoded(tile.id, parts[part].bytes_of(tile)); }
      EXPECT_EQ(writer.close().tiles, all.size());
      EXPECT_TRUE(pixels_of(file) == image.bytes);
    }
  }
}

TEST(EncodeTiles, GivesTheFileThatRowsGive) {
  Image image = make_image(DType::u16, 3, 70, 90);
  for (bool const strips : {false, true}) {
    WriteOptions options = tile_options(image);
    if (strips) { options.strip_rows = 20; }
    EncodedTiles const tiles = encode_tiles(image.view(), {}, image.width, image.height, options);
    std::vector<std::byte> file;
    Writer writer = create(memory_sink(file), image.width, image.height, options);
    for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
    writer.close();
    EXPECT_TRUE(file == written(image, options));
  }
}

TEST(EncodeTiles, LeavesTilesWithoutDataEmpty) {
  Image image = make_image(DType::u8, 1, 32, 64);
  for (std::uint32_t y = 0; y < 16; ++y) { std::fill_n(image.bytes.begin() + y * 64, 32, std::byte{0}); }
  WriteOptions options = tile_options(image);
  options.sparse = true;
  EncodedTiles const tiles = encode_tiles(image.view(), {}, 64, 32, options);
  ASSERT_EQ(tiles.tiles.size(), 4U);
  EXPECT_EQ(tiles.tiles[0].size_bytes, 0U);
  EXPECT_GT(tiles.tiles[1].size_bytes, 0U);
  std::vector<std::byte> file;
  Writer writer = create(memory_sink(file), 64, 32, options);
  for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
  EXPECT_EQ(writer.close().sparse_tiles, 1U);
  EXPECT_TRUE(pixels_of(file) == image.bytes);
}

TEST(EncodeTiles, RefusesViewsThatAreNotWholeTiles) {
  Image image = make_image(DType::u8, 1, 40, 100);
  WriteOptions const options = tile_options(image);
  auto const kind = [&](std::uint32_t width, std::uint32_t height, TileId first) {
    HostView view = image.view();
    view.width = width;
    view.height = height;
    return kind_of_failure([&] { (void)encode_tiles(view, first, 100, 40, options); });
  };
  EXPECT_EQ(kind(100, 40, {}), std::nullopt);
  EXPECT_EQ(kind(64, 16, {}), std::nullopt);
  EXPECT_EQ(kind(4, 8, {3, 2, 0}), std::nullopt);  // the corner
  for (auto const& [width, height, first] : {std::tuple{50U, 40U, TileId{}},
                                             {100U, 20U, TileId{}},
                                             {0U, 16U, TileId{}},
                                             {32U, 0U, TileId{}},
                                             {32U, 16U, TileId{4, 0, 0}},
                                             {32U, 16U, TileId{0, 3, 0}},
                                             {32U, 16U, TileId{0, 0, 1}},
                                             {64U, 16U, TileId{3, 0, 0}},
                                             {32U, 32U, TileId{0, 2, 0}},
                                             {32U, 16U, TileId{0xFFFFFFFFU, 0xFFFFFFFFU, 0}}}) {
    EXPECT_EQ(kind(width, height, first), ErrorKind::usage) << width << ' ' << height << ' ' << first.column;
  }
}

TEST(EncodeTiles, RefusesMasksAndOtherSamples) {
  Image image = make_image(DType::u8, 1, 40, 100);
  for (int what = 0; what < 3; ++what) {
    WriteOptions options = tile_options(image);
    options.mask = what == 0;
    if (what == 1) { options.dtype = DType::u16; }
    if (what == 2) { options.bands = 2; }
    EXPECT_EQ(kind_of_failure([&] { (void)encode_tiles(image.view(), {}, 100, 40, options); }), ErrorKind::usage)
        << what;
  }
}

TEST(EncodeTiles, LeavesOverviewsAndStatisticsToTheWriter) {
  Image image = make_image(DType::u8, 1, 40, 100);
  EncodedTiles const plain = encode_tiles(image.view(), {}, 100, 40, tile_options(image));
  WriteOptions options = tile_options(image);
  options.cog = options.statistics = true;
  options.overview_factors = {{2, 4}};
  EncodedTiles const tiles = encode_tiles(image.view(), {}, 100, 40, options);
  EXPECT_EQ(tiles.tiles.size(), 12U);
  EXPECT_TRUE(tiles.buffer == plain.buffer);
}

TEST(EncodeTiles, CanBeCancelled) {
  Image image = make_image(DType::u8, 1, 40, 100);
  WriteOptions options = tile_options(image);
  options.progress = [](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 12U);
    return done < 3;
  };
  EXPECT_EQ(kind_of_failure([&] { (void)encode_tiles(image.view(), {}, 100, 40, options); }), ErrorKind::cancelled);
  std::atomic<bool> const stop = true;
  options.progress = {};
  options.cancel = &stop;
  EXPECT_EQ(kind_of_failure([&] { (void)encode_tiles(image.view(), {}, 100, 40, options); }), ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::writing
