// SPDX-License-Identifier: Apache-2.0
//
// Blocks and results that are too large for one piece of memory or for the caches. Also run under ThreadSanitizer.
#include "read/host_engine.hpp"

#include "codec/encoder.hpp"
#include "read/images.hpp"
#include "read/jpeg_image.hpp"
#include "read/raw_pieces.hpp"
#include "tile/predict.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;

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

// Short rows of neighbours are joined in a result this large. Of the tiles, some are missing, some end early; the
// window and the image end inside tiles, bands lie in planes, and the result begins and goes on anywhere in a line of
// the cache.
void expect_joined(std::uint32_t tile_width, std::uint32_t tile_height, Window const& window, std::size_t skip) {
  constexpr std::uint32_t kWidth = 2100, kHeight = 1100;
  std::uint32_t const across = ceil_div(kWidth, tile_width), down = ceil_div(kHeight, tile_height);
  ImageSpec spec{.width = kWidth,
                 .height = kHeight,
                 .bands = 2,
                 .tile_width = tile_width,
                 .tile_height = tile_height,
                 .separate = true};
  auto const good_rows = [&](std::uint64_t block) {
    return block % 13 == 5 ? 0 : block % 17 == 3 ? static_cast<std::uint32_t>(block) % tile_height : tile_height;
  };
  std::size_t const row_bytes = std::size_t{tile_width} * sizeof(double);
  spec.edit = [&](std::uint64_t block, Bytes& bytes) { bytes.resize(good_rows(block) * row_bytes); };
  Opened const opened(image<double>(spec));
  ReadRequest const request{.window = window, .bad_tile = BadTile::fill, .threads = 1};
  auto const planned = make_plan(opened->shared_impl(), request);
  ASSERT_GT(RawPieces(*planned)[0].blocks, 1u) << "or this tests nothing";
  std::size_t const stride = window.width + skip;
  std::vector<double> out(skip + stride * window.height * 2, -1), wanted = out;
  for (std::uint32_t b = 0; b < 2; ++b) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c) {
        std::uint32_t const row = window.row + r, column = window.column + c;
        std::uint64_t const block = (std::uint64_t{b} * down + row / tile_height) * across + column / tile_width;
        wanted[skip + (std::size_t{b} * window.height + r) * stride + c] =
            row % tile_height < good_rows(block) ? value_at<double>(b, row, column) : 0;
      }
    }
  }
  auto const bytes = [](std::size_t values) { return static_cast<std::int64_t>(values * sizeof(double)); };
  ReadReport report;
  read_into(*opened, request,
            {out.data() + skip, DType::f64, 2, window.height, window.width, bytes(stride * window.height),
             bytes(stride), bytes(1)},
            &report);
  EXPECT_TRUE(out == wanted) << tile_width << " x " << tile_height << " skip " << skip;
  EXPECT_GT(report.bad_tiles.size(), 0u);
  EXPECT_GT(report.sparse_tiles, 0u);
  EXPECT_EQ(report.tiles + report.sparse_tiles + report.bad_tiles.size(), planned->block_count());
  out.assign(out.size(), -1);
  read_into(*opened, {.window = window, .bad_tile = BadTile::fill, .threads = 4},
            {out.data() + skip, DType::f64, 2, window.height, window.width, bytes(stride * window.height),
             bytes(stride), bytes(1)});
  EXPECT_TRUE(out == wanted) << "by four threads";
  Error const error = failure_of([&] { static_cast<void>(read(*opened, {.window = window, .threads = 1})); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.where().tile, report.bad_tiles.front().tile);
}

TEST(RawPieces, OfJoinedTilesGiveTheSamePixels) {
  expect_joined(64, 64, {0, 0, 2100, 1100}, 0);
  expect_joined(64, 48, {0, 0, 2100, 1100}, 1);
  expect_joined(208, 176, {5, 3, 2090, 1090}, 2);
  expect_joined(16, 16, {17, 15, 2075, 1085}, 5);
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
  // Large results are streamed whatever the length of a tile's rows: 2 KiB would else be read straight into the result.
  expect_streamed_floats(kNone, 512);
  expect_streamed_floats(kNone, 256);
}

// JPEG of YCbCr goes to planes without becoming pixels first. Two tiles end early: their rows come by the other way.
void expect_jpeg_planes(std::uint32_t across) {
  if (codec::find_encoder(tiff::Compression::jpeg)->encode == nullptr) { GTEST_SKIP() << "this build lacks libjpeg"; }
  constexpr std::uint32_t kTile = 256;
  std::uint32_t const side = across * kTile - 3;
  Opened const opened(jpeg_image(kTile, across, {{1, 8}, {3, 1}}));
  ReadRequest const request{.bad_tile = BadTile::fill, .threads = 3};
  ReadReport report;
  HostArray const planes = read(*opened, request, &report);
  EXPECT_EQ(report.bad_tiles.size(), 2u);
  EXPECT_EQ(report.tiles, across * across - 2);
  Bytes by_pixel(planes.bytes().size());
  read_into(*opened, request, {by_pixel.data(), DType::u8, 3, side, side, 1, std::int64_t{side} * 3, 3});
  for (std::size_t b = 0; b < 3; ++b) {
    std::byte const* const plane = planes.bytes().data() + b * side * side;
    for (std::size_t i = 0; i < std::size_t{side} * side; ++i) {
      ASSERT_EQ(plane[i], by_pixel[i * 3 + b]) << "band " << b << " row " << i / side << " column " << i % side;
    }
  }
}

TEST(JpegInPlanes, HasThePixelsOfTheDecoder) { expect_jpeg_planes(3); }

TEST(LargeResults, OfJpegHaveThePixelsOfTheDecoder) { expect_jpeg_planes(14); }

}  // namespace
}  // namespace terrazzo::reading
