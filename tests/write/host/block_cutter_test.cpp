// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_cutter.hpp"

#include "write/test_image.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace terrazzo::writing {
namespace {

FilePlan plan_of(Image const& image, WriteOptions options) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.mask = !image.mask.empty();
  return plan_file(image.width, image.height, options);
}

WriteOptions tiles(std::uint32_t width, std::uint32_t height) {
  WriteOptions options;
  options.tile_size = {width, height};
  options.predictor = PredictorChoice::none;
  return options;
}

// What the block should be: pixels of the image, its last column repeated.
std::vector<std::byte> block_of(Image const& image, FilePlan const& plan, TileId id) {
  LevelPlan const& level = plan.levels[0];
  codec::BlockShape const shape = plan.shape_of(level, id.row);
  std::size_t const sample = image.sample_bytes();
  std::vector<std::byte> block;
  for (std::uint32_t y = 0; y < level.rows_of(id.row); ++y) {
    for (std::uint32_t x = 0; x < shape.width_px; ++x) {
      for (std::uint32_t s = 0; s < plan.samples_per_block; ++s) {
        std::size_t const row = std::min(id.row * level.block_height + y, image.height - 1);
        std::size_t const column = std::min(id.column * level.block_width + x, image.width - 1);
        auto const* const at =
            image.bytes.data() + (((id.plane + s) * image.height + row) * image.width + column) * sample;
        block.insert(block.end(), at, at + sample);
      }
    }
  }
  return block;
}

bool same(std::span<std::byte const> a, std::span<std::byte const> b) { return std::ranges::equal(a, b); }

TEST(BlockCutter, CutsBlocksOutOfAnyOrderOfMemory) {
  for (DType const dtype : {DType::u8, DType::u16, DType::f32, DType::f64, DType::cf64}) {
    for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
      Image const image = make_image(dtype, 3, 40, 50);
      WriteOptions options = tiles(32, 16);
      options.planar = planar;
      FilePlan const plan = plan_of(image, options);
      BlockCutter const cutter(plan);
      CutScratch scratch;
      for (Order const order : kOrders) {
        Arranged const source = arrange(image, order);
        for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
          for (std::uint32_t row = 0; row < 3; ++row) {
            for (std::uint32_t column = 0; column < 2; ++column) {
              TileId const id{column, row, plane};
              CutBlock const cut = cutter.cut(plan.levels[0], {0, source.view, {}}, id, true, scratch);
              EXPECT_TRUE(same(cut.samples, block_of(image, plan, id)));
              EXPECT_TRUE(same(cut.encoded_input.first(cut.samples.size()), cut.samples));
            }
          }
        }
      }
    }
  }
}

TEST(BlockCutter, FillsMissingRowsByZerosOrForPicturesByTheLastRow) {
  for (Compression const compression : {Compression::deflate, Compression::jpeg}) {
    Image image = make_image(DType::u8, 1, 20, 32);
    WriteOptions options = tiles(32, 16);
    options.compression = compression;
    FilePlan const plan = plan_of(image, options);
    CutScratch scratch;
    CutBlock const cut = BlockCutter(plan).cut(plan.levels[0], {0, image.view(), {}}, {0, 1, 0}, true, scratch);
    ASSERT_EQ(cut.samples.size(), 4U * 32U);
    ASSERT_EQ(cut.encoded_input.size(), 16U * 32U);
    for (std::size_t y = 4; y < 16; ++y) {
      std::span<std::byte const> const row = cut.encoded_input.subspan(y * 32, 32);
      if (compression == Compression::jpeg) {
        EXPECT_TRUE(same(row, cut.samples.last(32)));
      } else {
        EXPECT_TRUE(std::ranges::all_of(row, [](std::byte b) { return b == std::byte{0}; }));
      }
    }
  }
}

TEST(BlockCutter, FindsTheBlockInRowsThatBeginLater) {
  Image image = make_image(DType::u8, 1, 40, 50);
  FilePlan const plan = plan_of(image, tiles(32, 16));
  BlockCutter const cutter(plan);
  CutScratch scratch;
  ConstHostRows const rows{16, some_rows(image.view(), 16, 24), {}};
  for (std::uint32_t const row : {1U, 2U}) {
    CutBlock const cut = cutter.cut(plan.levels[0], rows, {1, row, 0}, true, scratch);
    EXPECT_TRUE(same(cut.samples, block_of(image, plan, {1, row, 0})));
  }
}

TEST(BlockCutter, CutsTheLastStripShort) {
  Image image = make_image(DType::u8, 1, 40, 50);
  WriteOptions options = tiles(32, 16);
  options.strip_rows = 15;
  FilePlan const plan = plan_of(image, options);
  BlockCutter const cutter(plan);
  CutScratch scratch;
  CutBlock const cut = cutter.cut(plan.levels[0], {0, image.view(), {}}, {0, 2, 0}, true, scratch);
  EXPECT_EQ(cut.samples.size(), 10U * 50U);
  EXPECT_TRUE(same(cut.samples, block_of(image, plan, {0, 2, 0})));
}

TEST(BlockCutter, AppliesThePredictorWithOrWithoutKeepingTheSamples) {
  for (DType const dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::f32, DType::f64, DType::f16}) {
    Image image = make_image(dtype, 2, 20, 40);
    WriteOptions options = tiles(32, 16);
    options.predictor = PredictorChoice::automatic;
    FilePlan const plan = plan_of(image, options);
    ASSERT_NE(plan.predictor, tiff::Predictor::none);
    BlockCutter const cutter(plan);
    CutScratch one, two;
    TileId const id{1, 1, 0};
    CutBlock const kept = cutter.cut(plan.levels[0], {0, image.view(), {}}, id, true, one);
    CutBlock const fast = cutter.cut(plan.levels[0], {0, image.view(), {}}, id, false, two);
    EXPECT_TRUE(same(kept.encoded_input, fast.encoded_input));
    EXPECT_TRUE(same(kept.samples, block_of(image, plan, id)));
    EXPECT_TRUE(fast.samples.empty());
    EXPECT_FALSE(same(kept.encoded_input, kept.samples));
  }
}

TEST(BlockCutter, MakesNanIntoNodata) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Image image = make_image(DType::f32, 1, 16, 16), expected = image;
  punch_holes<float>(image, kNan, 3);
  punch_holes<float>(expected, -32768, 3);
  std::vector<std::byte> const before = image.bytes;
  WriteOptions options = tiles(16, 16);
  options.nodata = make_nodata("-32768", DType::f32);
  FilePlan const plan = plan_of(image, options);
  BlockCutter const cutter(plan);
  CutScratch scratch;
  EXPECT_TRUE(same(cutter.cut(plan.levels[0], {0, image.view(), {}}, {}, true, scratch).samples, expected.bytes));
  EXPECT_TRUE(image.bytes == before);
}

TEST(BlockCutter, MakesNanOfHalvesIntoNodataAndLeavesInfinity) {
  Image image = make_image(DType::f16, 1, 16, 16), expected = image;
  auto const put = [](Image& into, std::size_t index, std::uint16_t bits) {
    std::memcpy(into.bytes.data() + 2 * index, &bits, 2);
  };
  constexpr std::uint16_t kInfinity = 0x7C00, kMinusTwo = 0xC000;
  std::size_t at = 0;
  for (std::uint16_t const nan :
       {std::uint16_t{0x7C01}, std::uint16_t{0x7E00}, std::uint16_t{0xFE00}, std::uint16_t{0xFFFF}}) {
    put(image, at, nan);
    put(expected, at++, kMinusTwo);
  }
  for (std::uint16_t const other : {kInfinity, std::uint16_t{0xFC00}}) {
    put(image, at, other);
    put(expected, at++, other);
  }
  WriteOptions options = tiles(16, 16);
  options.nodata = make_nodata("-2", DType::f16);
  FilePlan const plan = plan_of(image, options);
  CutScratch scratch;
  EXPECT_TRUE(
      same(BlockCutter(plan).cut(plan.levels[0], {0, image.view(), {}}, {}, true, scratch).samples, expected.bytes));
}

TEST(BlockCutter, PacksMasksAndLeavesWhatIsMissingInvalid) {
  Image image = make_image(DType::u8, 1, 20, 21);
  add_mask(image);
  FilePlan const plan = plan_of(image, tiles(16, 16));
  BlockCutter const cutter(plan);
  CutScratch scratch;
  for (std::uint32_t row = 0; row < 2; ++row) {
    for (std::uint32_t column = 0; column < 2; ++column) {
      auto const bits =
          cutter.cut_mask(plan.levels[0], {0, image.view(), image.mask_view()}, {column, row, 0}, scratch);
      ASSERT_EQ(bits.size(), 32U);
      for (std::uint32_t y = 0; y < 16; ++y) {
        for (std::uint32_t x = 0; x < 16; ++x) {
          bool const valid = (bits[y * 2 + x / 8] & (std::byte{0x80} >> (x % 8))) != std::byte{0};
          std::uint32_t const real_x = column * 16 + x, real_y = row * 16 + y;
          bool const expected = real_x < 21 && real_y < 20 && image.mask[real_y * 21 + real_x] != std::byte{0};
          EXPECT_EQ(valid, expected) << real_x << ' ' << real_y;
        }
      }
    }
  }
}

TEST(BlockCutter, KnowsBlocksWithoutData) {
  Image image = make_image(DType::i16, 1, 16, 16);
  WriteOptions options = tiles(16, 16);
  options.nodata = make_nodata("-5", DType::i16);
  FilePlan const with_nodata = plan_of(image, options);
  options.nodata.reset();
  FilePlan const without = plan_of(image, options);
  std::vector<std::int16_t> minus_five(256, -5), zeros(256, 0), one_off(256, -5);
  one_off.back() = -4;
  auto const bytes = [](auto const& values) { return std::as_bytes(std::span(values)); };
  EXPECT_TRUE(BlockCutter(with_nodata).is_empty(bytes(minus_five)));
  EXPECT_FALSE(BlockCutter(with_nodata).is_empty(bytes(zeros)));
  EXPECT_FALSE(BlockCutter(with_nodata).is_empty(bytes(one_off)));
  EXPECT_TRUE(BlockCutter(without).is_empty(bytes(zeros)));
  EXPECT_FALSE(BlockCutter(without).is_empty(bytes(minus_five)));
}

TEST(BlockCutter, KnowsWhereAnErrorWouldChangeNodata) {
  Image image = make_image(DType::f32, 1, 16, 16);
  WriteOptions options = tiles(16, 16);
  options.nodata = make_nodata("100", DType::f32);
  FilePlan const plan = plan_of(image, options);
  BlockCutter const cutter(plan);
  auto const blurs = [&](std::vector<float> const& samples) {
    return cutter.would_blur_nodata(std::as_bytes(std::span(samples)));
  };
  EXPECT_TRUE(blurs({100, 99.5F, 100}));
  EXPECT_FALSE(blurs({100, 100, 101}));  // the smallest value is kept
  EXPECT_FALSE(blurs({99, 101, 100.5F}));
  EXPECT_FALSE(blurs({100, 100}));
}

TEST(StoreNodata, WritesTheSampleOfEveryType) {
  auto const stored = [](char const* text, DType dtype, auto expected) {
    std::byte bytes[16] = {};
    store_nodata(make_nodata(text, dtype), dtype, bytes);
    decltype(expected) value;
    std::memcpy(&value, bytes, sizeof value);
    EXPECT_EQ(value, expected) << text;
  };
  stored("200", DType::u8, std::uint8_t{200});
  stored("-7", DType::i8, std::int8_t{-7});
  stored("65535", DType::u16, std::uint16_t{65535});
  stored("-32768", DType::i16, std::int16_t{-32768});
  stored("4294967295", DType::u32, std::uint32_t{4294967295});
  stored("-2147483648", DType::i32, std::int32_t{-2147483647 - 1});
  stored("18446744073709551615", DType::u64, std::uint64_t{18446744073709551615ULL});
  stored("-9223372036854775807", DType::i64, std::int64_t{-9223372036854775807LL});
  stored("-3.4028234663852886e+38", DType::f32, -std::numeric_limits<float>::max());
  stored("1e300", DType::f64, 1e300);
  stored("1", DType::f16, std::uint16_t{0x3C00});
}

}  // namespace
}  // namespace terrazzo::writing
