// SPDX-License-Identifier: Apache-2.0
#include "write/host/row_decoder.hpp"

#include "../test_image.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::kind_of_failure;

// Rows as a RowWindow has them.
struct DecodedImage {
  std::vector<std::byte> bytes{};
  HostRows rows{};
};

DecodedImage room_for(FilePlan const& plan) {
  LevelPlan const& raster = plan.levels.front();
  auto const sample = static_cast<std::int64_t>(plan.sample_bytes());
  auto const bands = static_cast<std::int64_t>(plan.options.bands);
  DecodedImage image;
  image.bytes.assign(static_cast<std::size_t>(sample * bands) * raster.width * raster.height, std::byte{0xA5});
  std::int64_t const pixel = plan.planes > 1 ? sample : sample * bands;
  std::int64_t const band = plan.planes > 1 ? sample * raster.width * raster.height : sample;
  image.rows = {0,
                {image.bytes.data(), plan.options.dtype, plan.options.bands, raster.height, raster.width, band,
                 pixel * raster.width, pixel},
                {}};
  return image;
}

DecodedImage decoded(Image& image, WriteOptions const& options, unsigned threads = 3) {
  FilePlan const plan = plan_file(image.width, image.height, options);
  EncodedTiles const tiles = encode_tiles(image.view(), {}, image.width, image.height, options);
  MemoryBudget budget(1 << 26);
  WaitingBlocks blocks(plan, budget);
  for (EncodedTile const& tile : tiles.tiles) { blocks.add(tile.id, tiles.bytes_of(tile)); }
  RowDecoder decoder(plan, threads, budget);
  DecodedImage result = room_for(plan);
  decoder.decode(blocks, result.rows, nullptr);
  return result;
}

WriteOptions options_of(Image const& image, PlanarLayout planar) {
  return with([&](WriteOptions& o) {
    o.dtype = image.dtype;
    o.bands = image.bands;
    o.planar = planar;
  });
}

// The pixels of the image, in the order of the rows.
bool equal(Image const& image, DecodedImage const& other) {
  std::size_t const sample = image.sample_bytes();
  HostView const& view = other.rows.pixels;
  for (std::uint32_t b = 0; b < image.bands; ++b) {
    for (std::uint32_t y = 0; y < image.height; ++y) {
      for (std::uint32_t x = 0; x < image.width; ++x) {
        std::size_t const index = (std::size_t{b} * image.height + y) * image.width + x;
        auto const at = b * view.band_stride_bytes + y * view.row_stride_bytes + x * view.pixel_stride_bytes;
        if (std::memcmp(image.bytes.data() + index * sample, other.bytes.data() + at, sample) != 0) { return false; }
      }
    }
  }
  return true;
}

TEST(RowDecoder, UndoesEveryPredictorAndLayout) {
  for (DType const dtype :
       {DType::u8, DType::i16, DType::u32, DType::i64, DType::f16, DType::f32, DType::f64, DType::cf32, DType::ci16}) {
    for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
      for (PredictorChoice const predictor : {PredictorChoice::automatic, PredictorChoice::none}) {
        Image image = make_image(dtype, 2, 61, 75);
        WriteOptions options = options_of(image, planar);
        options.predictor = predictor;
        EXPECT_TRUE(equal(image, decoded(image, options))) << to_string(dtype);
      }
    }
  }
}

TEST(RowDecoder, DecodesStrips) {
  Image image = make_image(DType::u16, 3, 61, 75);
  WriteOptions options = options_of(image, PlanarLayout::contiguous);
  options.strip_rows = 20;
  EXPECT_TRUE(equal(image, decoded(image, options)));
}

TEST(RowDecoder, FillsEmptyTilesAsReadersDo) {
  for (bool const has_nodata : {false, true}) {
    Image image = make_image(DType::i16, 2, 61, 75);
    std::int16_t const empty = has_nodata ? -9999 : 0;
    for (std::size_t i = 0; i < image.bytes.size(); i += 2) { std::memcpy(image.bytes.data() + i, &empty, 2); }
    WriteOptions options = options_of(image, PlanarLayout::contiguous);
    options.sparse = true;
    if (has_nodata) { options.nodata = make_nodata("-9999", DType::i16); }
    EXPECT_TRUE(equal(image, decoded(image, options))) << has_nodata;
  }
}

TEST(RowDecoder, TakesStreamsThatEndInThePadding) {
  Image image = make_image(DType::u8, 1, 40, 32);
  WriteOptions options = options_of(image, PlanarLayout::contiguous);
  options.compression = Compression::none;
  options.level.reset();
  FilePlan const plan = plan_file(32, 40, options);
  EncodedTiles const tiles = encode_tiles(image.view(), {}, 32, 40, options);
  MemoryBudget budget(1 << 20);
  RowDecoder decoder(plan, 1, budget);
  for (std::size_t const rows : {40U, 39U}) {
    WaitingBlocks blocks(plan, budget);
    blocks.add({0, 0, 0}, tiles.bytes_of(tiles.tiles[0]).first(rows * 32));
    DecodedImage result = room_for(plan);
    auto const failure = kind_of_failure([&] { decoder.decode(blocks, result.rows, nullptr); });
    if (rows == 40) {
      EXPECT_EQ(failure, std::nullopt);
      EXPECT_TRUE(equal(image, result));
    } else {
      EXPECT_EQ(failure, ErrorKind::malformed);
    }
  }
}

TEST(RowDecoder, TakesFewerThreadsWhereMemoryIsShort) {
  Image image = make_image(DType::f32, 1, 100, 100);
  WriteOptions const options = options_of(image, PlanarLayout::contiguous);
  FilePlan const plan = plan_file(100, 100, options);
  MemoryBudget budget(50'000);  // a tile has 6 KiB
  RowDecoder const decoder(plan, 64, budget);
  EXPECT_LE(budget.used_bytes(), 12'500U);
  MemoryBudget small(1000);
  EXPECT_EQ(kind_of_failure([&] { RowDecoder(plan, 1, small); }), ErrorKind::limit);
}

TEST(RowDecoder, CanBeCancelled) {
  Image image = make_image(DType::u8, 1, 40, 32);
  WriteOptions const options = options_of(image, PlanarLayout::contiguous);
  FilePlan const plan = plan_file(32, 40, options);
  MemoryBudget budget(1 << 20);
  WaitingBlocks blocks(plan, budget);
  blocks.add({0, 0, 0}, {});
  DecodedImage result = room_for(plan);
  std::atomic<bool> const stop = true;
  RowDecoder decoder(plan, 1, budget);
  EXPECT_EQ(kind_of_failure([&] { decoder.decode(blocks, result.rows, &stop); }), ErrorKind::cancelled);
}

}  // namespace
}  // namespace terrazzo::writing
