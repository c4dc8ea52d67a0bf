// SPDX-License-Identifier: Apache-2.0
#include "write/host/encoded_rows.hpp"

#include "../test_image.hpp"

#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace terrazzo::writing {
namespace {

TEST(EncodedRows, GiveTheFileThatRowsGive) {
  unsigned seed = 0;
  for (DType const dtype : {DType::u8, DType::i16, DType::f32, DType::f64, DType::cf32}) {
    for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
      for (int what = 0; what < 4; ++what) {
        Image image = make_image(dtype, 3, 331, 250);  // odd sizes: overviews do not halve exactly
        WriteOptions const options = with([&](WriteOptions& o) {
          o.planar = planar;
          o.cog = what != 1;
          o.statistics = what >= 1;
          if (what == 2) { o.overview_resampling = is_complex(dtype) ? Resampling::nearest : Resampling::cubic; }
          if (what == 3) { o.overview_factors = {{2, 3, 8}}; }
          o.threads = 1 + seed % 4;
        });
        EXPECT_TRUE(from_tiles(image, options, ++seed) == written(image, options)) << to_string(dtype) << ' ' << what;
      }
    }
  }
}

TEST(EncodedRows, GiveTheSameFileForEveryLosslessCodec) {
  Image image = make_image(DType::u8, 3, 200, 230);
  for (Compression const compression :
       {Compression::none, Compression::packbits, Compression::lzw, Compression::deflate, Compression::zstd,
        Compression::lerc_zstd, Compression::jpeg2000, Compression::webp, Compression::lzma, Compression::lz4}) {
    WriteOptions const options = with([&](WriteOptions& o) {
      o.compression = compression;
      o.cog = o.statistics = true;
    });
    EXPECT_TRUE(from_tiles(image, options, 1) == written(image, options)) << to_string(compression);
  }
}

TEST(EncodedRows, KeepMissingPixelsMissing) {
  for (bool const sparse : {false, true}) {
    Image image = make_image(DType::f32, 2, 331, 250);
    punch_holes<float>(image, std::numeric_limits<float>::quiet_NaN(), 100);
    WriteOptions const options = with([&](WriteOptions& o) {
      o.cog = o.statistics = true;
      o.sparse = sparse;
      o.nodata = make_nodata("-9999", DType::f32);
    });
    std::vector<std::byte> const file = from_tiles(image, options, 1);
    EXPECT_TRUE(file == written(image, options)) << sparse;
  }
}

TEST(EncodedRows, ReduceThePixelsThatReadersSee) {
  Image image = make_image(DType::u8, 3, 320, 256);
  for (bool const jpeg : {true, false}) {
    WriteOptions const options = with([&](WriteOptions& o) {
      o.compression = jpeg ? Compression::jpeg : Compression::webp;
      o.lossless = false;
      o.tile_size = {64, 64};
      o.cog = true;
    });
    std::vector<std::byte> const file = from_tiles(image, options, 1), direct = written(image, options);
    EXPECT_TRUE(pixels_of(file) == pixels_of(direct)) << "the raster's tiles are those that came";
    ReadRequest request;
    request.level = 1;
    std::vector<std::byte> const reduced = pixels_of(file, request), expected = pixels_of(direct, request);
    ASSERT_EQ(reduced.size(), expected.size());
    double difference = 0;
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      difference += std::abs(static_cast<int>(reduced[i]) - static_cast<int>(expected[i]));
    }
    EXPECT_LT(difference / static_cast<double>(reduced.size()), 6.0);
  }
}

// With little memory, rows are processed before there are enough for all threads.
TEST(EncodedRows, NeedLittleMoreMemoryThanTheirRows) {
  Image image = make_image(DType::f32, 1, 2048, 512);
  WriteOptions options = with([&](WriteOptions& o) {
    o.dtype = DType::f32;
    o.tile_size = {128, 128};
    o.compression = Compression::none;
    o.cog = true;
    o.threads = 16;
    o.spool_bytes = 1 << 20;
  });
  EncodedTiles const tiles = encode_tiles(image.view(), {}, image.width, image.height, options);
  Settings const before = settings();
  Settings little = before;
  little.memory_limit_bytes = std::uint64_t{4} << 20;  // the raster has 4 MiB
  set_settings(little);
  std::vector<std::byte> file;
  Writer writer = create(memory_sink(file), image.width, image.height, options);
  for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
  writer.close();
  set_settings(before);
  EXPECT_TRUE(file == written(image, options));
}

TEST(EncodedRows, CountEveryTileInProgress) {
  Image image = make_image(DType::u8, 1, 331, 250);
  std::uint64_t last = 0, all = 0;
  WriteOptions const options = with([&](WriteOptions& o) { o.cog = true; });
  WriteOptions watched = options;
  watched.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(done, last + 1);
    last = done;
    all = total;
    return true;
  };
  EncodedTiles const tiles = encode_tiles(image.view(), {}, image.width, image.height, options);
  std::vector<std::byte> file;
  Writer writer = create(memory_sink(file), image.width, image.height, watched);
  for (EncodedTile const& tile : tiles.tiles) { writer.write_encoded(tile.id, tiles.bytes_of(tile)); }
  EXPECT_EQ(writer.close().tiles, all);
  EXPECT_EQ(last, all);
  EXPECT_GT(all, tiles.tiles.size());
}

}  // namespace
}  // namespace terrazzo::writing
