// SPDX-License-Identifier: Apache-2.0
//
// Blocks and results that are too large for one piece of memory or for the caches. Also run under ThreadSanitizer.
#include "read/host/engine.hpp"

#include "codec/registry/encoder.hpp"
#include "read/host/raw_pieces.hpp"
#include "read/images.hpp"
#include "read/jpeg_image.hpp"
#include "tile/apply_predictor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
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

// Short rows of neighbours are joined in a result this large. Of the tiles, some are missing, some end early, some hold
// more than their pixels; the window and the image end inside tiles.
struct Joined {
  ImageSpec spec;
  Window window;
  std::size_t skip = 0;  // samples before the result, so that it begins anywhere in a line of the cache
  bool by_pixel = false;
  bool bottom_up = false;
};

template <class T, class Result = T>
void expect_joined(Joined test, unsigned threads, std::optional<DType> dtype = {}) {
  auto& [spec, window, skip, by_pixel, bottom_up] = test;
  std::uint32_t const across = ceil_div(spec.width, spec.tile_width), down = ceil_div(spec.height, spec.tile_height);
  std::uint32_t const height = spec.tile_height;
  auto const good_rows = [&](std::uint64_t block) {
    return block % 13 == 5 ? 0u : block % 11 == 3 ? static_cast<std::uint32_t>(block * 7) % height : height;
  };
  auto const has_surplus = [&](std::uint64_t block) { return block % 5 == 1 && good_rows(block) == height; };
  std::size_t const row_bytes = std::size_t{spec.tile_width} * sizeof(T) * (spec.separate ? 1 : spec.bands);
  spec.edit = [&](std::uint64_t block, Bytes& bytes) {
    bytes.resize(good_rows(block) * row_bytes + (has_surplus(block) ? 9 : 0));
  };
  Opened const opened(image<T>(spec));
  ReadRequest const request{.window = window, .dtype = dtype, .bad_tile = BadTile::fill, .threads = threads};
  auto const planned = make_plan(opened->shared_impl(), request);

  std::vector<Result> out(skip + std::size_t{window.width} * window.height * spec.bands, Result{99}), wanted = out;
  auto const place = [&](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
    std::size_t const row = bottom_up ? window.height - 1 - r : r;
    return skip + (by_pixel ? (row * window.width + c) * spec.bands + b
                            : (std::size_t{b} * window.height + row) * window.width + c);
  };
  for (std::uint32_t b = 0; b < spec.bands; ++b) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c) {
        std::uint32_t const row = window.row + r, column = window.column + c;
        std::uint64_t const block =
            (std::uint64_t{spec.separate ? b : 0} * down + row / height) * across + column / spec.tile_width;
        wanted[place(b, r, c)] =
            row % height < good_rows(block) ? static_cast<Result>(value_at<T>(b, row, column)) : Result{0};
      }
    }
  }
  auto const distance = [&](std::size_t to, std::size_t from) {
    return (static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from)) * std::int64_t{sizeof(Result)};
  };
  std::size_t const origin = place(0, 0, 0);
  ReadReport report;
  read_into(*opened, request,
            {out.data() + origin, planned->dtype, spec.bands, window.height, window.width,
             spec.bands > 1 ? distance(place(1, 0, 0), origin) : 0, distance(place(0, 1, 0), origin),
             distance(place(0, 0, 1), origin)},
            &report);
  EXPECT_TRUE(out == wanted);

  std::uint64_t sparse = 0, bad = 0, surplus = 0;
  for (std::uint64_t i = 0; i < planned->block_count(); ++i) {
    TileId const id = planned->block_id(i);
    Window const covered = planned->covered(id);
    std::uint64_t const block = planned->block_number(id);
    bool const is_bad = good_rows(block) < covered.row + covered.height - id.row * height;
    sparse += good_rows(block) == 0 ? 1 : 0;
    bad += good_rows(block) != 0 && is_bad ? 1 : 0;
    surplus += has_surplus(block) ? 1 : 0;
  }
  EXPECT_EQ(report.sparse_tiles, sparse);
  EXPECT_EQ(report.bad_tiles.size(), bad);
  EXPECT_EQ(report.surplus_tiles, surplus);
  EXPECT_EQ(report.tiles, planned->block_count() - sparse - bad);
}

// With one thread all are joined, with three none: there would be too few pieces.
TEST(RawPieces, OfJoinedTilesGiveTheSamePixels) {
  ImageSpec const rgb{.width = 2800, .height = 2300, .bands = 3, .tile_width = 112, .tile_height = 240};
  ImageSpec rgb_planes = rgb;
  rgb_planes.separate = true;
  Window const inside{7, 9, 2700, 2200};
  for (unsigned const threads : {1u, 3u}) {
    SCOPED_TRACE(threads);
    expect_joined<double>({.spec = {.width = 2300, .height = 2000, .tile_width = 48, .tile_height = 160},
                           .window = {0, 0, 2300, 2000},
                           .skip = 1},
                          threads);
    expect_joined<std::uint16_t>({.spec = rgb_planes, .window = inside, .skip = 13, .bottom_up = true}, threads);
    expect_joined<std::uint16_t>({.spec = rgb, .window = inside, .skip = 5, .by_pixel = true}, threads);
    // Tall tiles in many pieces, of which the first begins below the tile's first row.
    expect_joined<float>({.spec = {.width = 3100, .height = 3100, .tile_width = 80, .tile_height = 3104},
                          .window = {81, 700, 3000, 2390},
                          .skip = 3},
                         threads);
    expect_joined<std::uint8_t>({.spec = {.width = 6000, .height = 6000, .tile_width = 16, .tile_height = 16},
                                 .window = {17, 3, 5900, 5900},
                                 .skip = 7},
                                threads);
  }
}

// Read in the same pieces, and placed one by one.
TEST(RawPieces, OfTilesThatAreNotCopiedAsTheyAreGiveTheSamePixels) {
  ImageSpec const rgb{.width = 2800, .height = 2300, .bands = 3, .tile_width = 112, .tile_height = 240};
  expect_joined<std::uint16_t>({.spec = rgb, .window = {7, 9, 2700, 2200}, .skip = 1}, 1);
  ImageSpec const plain{.width = 2300, .height = 2000, .tile_width = 48, .tile_height = 160};
  ImageSpec swapped = plain, reversed = plain;
  swapped.order = std::endian::big;
  reversed.reversed_bits = true;
  Window const inside{3, 5, 2291, 1990};
  expect_joined<double>({.spec = swapped, .window = inside, .skip = 1}, 1);
  expect_joined<double>({.spec = reversed, .window = inside, .skip = 3, .bottom_up = true}, 1);
  expect_joined<std::uint16_t, float>(
      {.spec = {.width = 3000, .height = 3000, .tile_width = 176, .tile_height = 1200}, .window = {1, 1, 2990, 2990}},
      1, DType::f32);
}

// 4096 x 4096 floats of 256 px tiles, all the same bytes, some of which end after so many rows.
Opened tiles_that_end_after(std::vector<std::pair<std::size_t, std::uint32_t>> const& rows) {
  constexpr std::uint32_t kSide = 4096, kTile = 256, kTiles = (kSide / kTile) * (kSide / kTile);
  testing::TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data(Bytes(std::size_t{kTile} * kTile * 4, std::byte{7})));
  std::vector<std::uint32_t> sizes(kTiles, kTile * kTile * 4);
  for (auto const& [tile, count] : rows) { sizes[tile] = count * kTile * 4; }
  builder.longs(256, {kSide}).longs(257, {kSide}).shorts(258, {32}).shorts(259, {kNone}).shorts(339, {3});
  builder.longs(322, {kTile}).longs(323, {kTile}).longs(324, std::vector<std::uint32_t>(kTiles, at)).longs(325, sizes);
  return Opened(builder);
}

TEST(RawPieces, FailWithTheFirstBadTileWhateverTheThreads) {
  Opened const opened = tiles_that_end_after({{1, 200}, {2, 10}});
  for (unsigned const threads : {1u, 2u, 4u, 5u, 8u}) {
    Error const error = failure_of([&] { static_cast<void>(read(*opened, {.threads = threads})); });
    EXPECT_EQ(error.where().tile, (TileId{.column = 1})) << threads;
    EXPECT_NE(error.message().find("shorter than its pixels"), std::string::npos) << error.message();
  }
}

TEST(RawPieces, OfAReadThatFailsAreReported) {
  Opened const opened = tiles_that_end_after({{100, 10}});
  ReadReport report;
  EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.threads = 1}, &report)); }).kind(),
            ErrorKind::malformed);
  EXPECT_GE(report.tiles, 96u) << "six rows of tiles above it";
  EXPECT_LT(report.tiles, 256u);
}

TEST(RawPieces, TellOfProgressToTheEnd) {
  Opened const opened = tiles_that_end_after({});
  for (unsigned const threads : {1u, 2u}) {
    std::vector<std::uint64_t> told;
    ReadRequest request{.threads = threads};
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(total, 256u);
      told.push_back(done);
      return true;
    };
    static_cast<void>(read(*opened, request));
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_EQ(told.back(), 256u);
    if (threads == 1) { EXPECT_EQ(told[1], 8u) << "two pieces of eight tiles"; }
  }
}

TEST(RawPieces, OfBlocksThatAreNotThereNeedNoMemory) {
  for (bool const sparse : {true, false}) {
    testing::TiffBuilder builder;
    builder.longs(256, {400'000'000}).longs(257, {4}).shorts(258, {8}).shorts(259, {kNone}).longs(278, {4});
    builder.longs(273, {sparse ? 0 : 4'000'000'000u}).longs(279, {sparse ? 0 : 1'600'000'000u});
    Opened const opened(builder);
    ReadReport report;
    ReadRequest const request{
        .window = Window{0, 0, 16, 2}, .bad_tile = BadTile::fill, .memory_limit_bytes = std::uint64_t{64} << 20};
    EXPECT_EQ(values_of<std::uint8_t>(read(*opened, request, &report)), std::vector<std::uint8_t>(32, 0));
    EXPECT_EQ(report.sparse_tiles, sparse ? 1u : 0u);
    EXPECT_EQ(report.bad_tiles.size(), sparse ? 0u : 1u);
  }
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
// Results larger than the caches are written past them. Tiles are all the same one, so that the file is small.

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
