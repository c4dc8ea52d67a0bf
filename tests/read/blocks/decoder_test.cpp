// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/decoder.hpp"

#include "codec/registry/encoder.hpp"
#include "read/blocks/block_fixture.hpp"
#include "read/deflate_image.hpp"
#include "read/images.hpp"
#include "read/jpeg_image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace terrazzo::reading {
namespace {

using test::Blocks;

// The last strip is shorter than the others.
TEST(BlocksAtOnce, AreThoseOfEach) {
  if (codec::find_codec(tiff::Compression::deflate)->blocks_at_once < 2) { GTEST_SKIP() << "never faster here"; }
  Opened const opened(deflate_image({.width = 200, .height = 500, .bands = 2, .rows_per_strip = 300}));
  Blocks both(level_of(opened)), each(level_of(opened));
  std::uint64_t const blocks[] = {0, 1};
  std::span<DecodedBlock const> const decoded = both.decoder.decode(both.fetcher.fetch(blocks), 0, 2);
  ASSERT_EQ(decoded.size(), 2u);
  EXPECT_GE(both.budget.used_bytes(), 200u * 500 * 2 * 2) << "both are counted";
  std::vector<std::byte> wanted(each.decoder.layout().row_bytes), found(wanted.size());
  for (std::size_t b = 0; b < 2; ++b) {
    DecodedBlock const& alone = each.load(b);
    ASSERT_EQ(alone.result.status, tile::TileStatus::ok);
    ASSERT_EQ(decoded[b].result.status, tile::TileStatus::ok);
    for (std::uint32_t r = 0; r < (b == 0 ? 300u : 200u); ++r) {
      alone.rows.finish_row(r, wanted.data());
      decoded[b].rows.finish_row(r, found.data());
      ASSERT_EQ(found, wanted) << "block " << b << " row " << r;
    }
  }
}

TEST(BlocksAtOnce, AreOneWhereThatIsAllThereIs) {
  auto const first_is = [](auto const& change) {
    return Opened(deflate_image({.width = 200, .height = 200, .rows_per_strip = 100, .edit = change}));
  };
  auto const sparse = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 0) { bytes.clear(); }
  };
  ImageSpec const other{.width = 200, .height = 200, .rows_per_strip = 100, .compression = kPackBits};
  Opened const cases[] = {first_is(sparse), Opened(image<std::uint8_t>(other))};
  for (Opened const& opened : cases) {
    Blocks of(level_of(opened));
    std::uint64_t const blocks[] = {0, 1};
    tile::TileBatch const& batch = of.fetcher.fetch(blocks);
    EXPECT_EQ(of.decoder.decode(batch, 0, 2).size(), 1u);
    EXPECT_EQ(of.decoder.decode(batch, 1, 2).size(), 1u) << "the last of the batch";
    EXPECT_EQ(of.decoder.decode(batch, 1, 2).front().result.status, tile::TileStatus::ok);
    EXPECT_EQ(of.decoder.decode(batch, 0).size(), 1u) << "no more were asked for";
  }
}

TEST(BlocksAtOnce, EachHaveAResultOfTheirOwn) {
  auto const damaged = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 0) { bytes.back() ^= std::byte{1}; }  // of the checksum
  };
  Opened const opened(deflate_image({.width = 500, .height = 400, .rows_per_strip = 200, .edit = damaged}));
  Blocks of(level_of(opened));
  std::uint64_t const blocks[] = {0, 1};
  tile::TileBatch const& batch = of.fetcher.fetch(blocks);
  std::vector<tile::TileStatus> statuses;
  while (statuses.size() < 2) {
    for (DecodedBlock const& block : of.decoder.decode(batch, statuses.size(), 2)) {
      statuses.push_back(block.result.status);
    }
  }
  EXPECT_EQ(statuses[0], tile::TileStatus::corrupt);
  EXPECT_EQ(statuses[1], tile::TileStatus::ok);
}

// Memory for the second is not worth a failure.
TEST(BlocksAtOnce, AreOneWhereThereIsMemoryForOne) {
  Opened const opened(deflate_image({.width = 200, .height = 200, .rows_per_strip = 100}));
  std::uint64_t const blocks[] = {0, 1};
  Blocks of(level_of(opened), 200 * 100 * 2 + 200 * 2 + 1000);
  std::span<DecodedBlock const> const decoded = of.decoder.decode(of.fetcher.fetch(blocks), 0, 2);  // borrowed
  EXPECT_EQ(decoded.size(), 1u);
  EXPECT_EQ(decoded.front().result.status, tile::TileStatus::ok);
}

TEST(BlocksInPlanes, AreThoseOfJpegWhenAskedFor) {
  constexpr std::uint32_t kTile = 64;
  if (!tile::has_fast_jpeg_rows(kTile)) { GTEST_SKIP() << "not faster than rows on this machine"; }
  if (codec::find_encoder(tiff::Compression::jpeg)->encode == nullptr) { GTEST_SKIP() << "this build lacks libjpeg"; }
  Opened const opened(jpeg_image(kTile, 1));
  Level const& level = *opened->shared_impl()->levels[0];
  Blocks of(level);
  std::uint64_t const block = 0;
  tile::TileBatch const& batch = of.fetcher.fetch({&block, 1});
  DecodedBlock const in_planes = of.decoder.decode(batch, 0, 1, BlockDecoder::Form::rows_or_planes).front();
  ASSERT_EQ(in_planes.result.status, tile::TileStatus::ok);
  ASSERT_TRUE(in_planes.rows.is_in_planes());
  std::vector<std::byte> planes(kTile * 3), row(of.decoder.layout().row_bytes);
  std::byte* const parts[] = {planes.data(), planes.data() + kTile, planes.data() + 2 * kTile};
  in_planes.rows.make_plane_row(5, kTile, parts);
  DecodedBlock const& in_rows = of.decoder.decode(batch, 0).front();
  ASSERT_EQ(in_rows.result.status, tile::TileStatus::ok);
  EXPECT_FALSE(in_rows.rows.is_in_planes()) << "rows were asked for";
  in_rows.rows.finish_row(5, row.data());
  for (std::size_t i = 0; i < row.size(); ++i) { ASSERT_EQ(row[i], parts[i % 3][i / 3]) << i; }
}

TEST(BlockMemory, OfACodecIsReservedBeforeItDecodes) {
  if (codec::find_codec(tiff::Compression::jpeg2000)->decode == nullptr) { GTEST_SKIP() << "no OpenJPEG here"; }
  Opened const opened(image<std::uint8_t>({.width = 16, .height = 16, .compression = 34712}));
  std::uint64_t const needed = 16 * 16 + 16 + 4 * 16 * 16;  // a decoded block, a row, OpenJPEG's
  EXPECT_EQ(Blocks(level_of(opened), needed).budget.used_bytes(), needed);
  EXPECT_EQ(failure_of([&] { Blocks const of(level_of(opened), needed - 1); }).kind(), ErrorKind::limit);
}

TEST(BlockMemory, OfReversedBitsIsReserved) {
  ImageSpec spec{.width = 64, .height = 64, .compression = kPackBits};
  spec.reversed_bits = true;
  Opened const opened(image<std::uint8_t>(spec));
  std::uint64_t const decoded = 64 * 64 + 64, packed = 64 * 64 + 32;
  Blocks enough(level_of(opened), decoded + packed);
  EXPECT_EQ(enough.load(0).result.status, tile::TileStatus::ok);
  Blocks small(level_of(opened), decoded + packed - 1);
  EXPECT_EQ(failure_of([&] { small.load(0); }).kind(), ErrorKind::limit);
}

// ---------------------------------------------------------------------------------------------------------------
// Streams that end inside the padding of a tile

// 35 x 37 pixels in one tile of 64 x 64, of which the file has the first `bytes`, compressed.
testing::TiffBuilder with_short_tiles(std::uint16_t compression, std::uint64_t bytes, std::uint16_t bands,
                                      bool separate) {
  ImageSpec spec{.width = 35, .height = 37, .bands = bands, .tile_width = 64, .tile_height = 64, .separate = separate};
  spec.compression = compression;
  spec.edit = [=](std::uint64_t, std::vector<std::byte>& stored) {
    // packbits() makes runs of 128 literals: the stream is cut inside one, or behind its first byte.
    stored.resize(static_cast<std::size_t>(compression == kPackBits ? bytes + (bytes + 127) / 128 : bytes));
    if (compression == kDeflate) { stored = deflated(stored); }
  };
  return image<std::uint8_t>(spec);
}

TEST(ShortTiles, AreGoodWhenAllPixelsAreThere) {
  struct Case {
    std::uint16_t bands;
    bool separate;
  };
  for (std::uint16_t const compression : {kNone, kPackBits, kDeflate}) {
    for (auto const& [bands, separate] : {Case{1, false}, Case{3, false}, Case{2, true}}) {
      std::uint64_t const pixel = separate ? 1 : bands;
      std::uint64_t const needed = (36 * 64 + 35) * pixel;
      Window const all{0, 0, 35, 37}, part{10, 5, 20, 32}, above{0, 0, 35, 36};
      std::vector<std::uint32_t> numbers(bands);
      std::iota(numbers.begin(), numbers.end(), 1u);
      for (std::uint64_t const bytes : {needed, needed + 5, 37 * 64 * pixel, 64 * 64 * pixel}) {
        Opened const opened(with_short_tiles(compression, bytes, bands, separate));
        for (Window const& window : {all, part}) {
          for (bool const strict : {false, true}) {
            ReadReport report;
            ReadRequest const request{.window = window, .bad_tile = BadTile::error, .strict = strict};
            EXPECT_EQ(values_of<std::uint8_t>(read(*opened, request, &report)),
                      expected<std::uint8_t>(window, numbers));
            EXPECT_EQ(report.tiles, separate ? bands : 1u);
            EXPECT_TRUE(report.bad_tiles.empty());
          }
        }
      }
      Opened const opened(with_short_tiles(compression, needed - 1, bands, separate));
      EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.window = all})); }).kind(), ErrorKind::malformed)
          << "a byte of the last pixel is missing";
      ReadReport report;
      auto const filled = values_of<std::uint8_t>(read(*opened, {.bad_tile = BadTile::fill}, &report));
      EXPECT_EQ(report.bad_tiles.size(), separate ? bands : 1u);
      auto const good = expected<std::uint8_t>(above, {1});
      EXPECT_TRUE(std::equal(good.begin(), good.end(), filled.begin())) << "36 rows are good";
    }
  }
}

// The floating-point predictor spreads each pixel over its row: a part of one is nothing.
TEST(ShortTiles, OfTheFloatingPointPredictorHaveWholeRows) {
  for (bool const whole : {true, false}) {
    ImageSpec spec{.width = 35, .height = 37, .tile_width = 64, .tile_height = 64, .compression = kDeflate};
    spec.edit = [&](std::uint64_t, std::vector<std::byte>& stored) {
      stored.assign(37 * 64 * 4 - (whole ? 0 : 1), std::byte{0});
      stored = deflated(stored);
    };
    testing::TiffBuilder builder = image<float>(spec);
    builder.shorts(317, {3});
    Opened const opened(builder);
    if (whole) {
      EXPECT_EQ(values_of<float>(read(*opened)), std::vector<float>(35 * 37, 0.0F));
    } else {
      EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened)); }).kind(), ErrorKind::malformed);
    }
  }
}

// Nothing of what the buffer held before shows where a stream has ended: it may be kept for other windows.
TEST(ShortTiles, HaveZerosWhereTheyEnd) {
  Opened const opened(with_short_tiles(kPackBits, 36 * 64 + 35, 1, false));
  Blocks of(level_of(opened));
  std::ranges::fill(of.scratch.decoded.get(64 * 64), std::byte{0x77});
  DecodedBlock const& block = of.load(0);
  ASSERT_EQ(block.result.status, tile::TileStatus::ok);
  std::vector<std::byte> row(64);
  block.rows.finish_row(36, row.data());
  EXPECT_EQ(row[34], static_cast<std::byte>(value_at<std::uint8_t>(0, 36, 34)));
  EXPECT_EQ(row[35], std::byte{0});
  block.rows.finish_row(63, row.data());
  EXPECT_EQ(row, std::vector<std::byte>(64));
}

}  // namespace
}  // namespace terrazzo::reading
