// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_moments.hpp"

#include "write/test_image.hpp"

#include "write/host/block_cutter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace terrazzo::writing {
namespace {

// Of all blocks of an image, in their order.
std::vector<Moments> all_moments(Image& image, WriteOptions options) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.mask = !image.mask.empty();
  options.tile_size = {16, 32};
  FilePlan const plan = plan_file(image.width, image.height, options);
  BlockCutter const cutter(plan);
  CutScratch scratch;
  ConstHostRows const rows{0, image.view(), options.mask ? image.mask_view() : HostView{}};
  std::vector<Moments> total(image.bands);
  LevelPlan const& level = plan.levels[0];
  for (std::uint32_t plane = 0; plane < plan.planes; ++plane) {
    for (std::uint32_t row = 0; row < level.blocks_down; ++row) {
      for (std::uint32_t column = 0; column < level.blocks_across; ++column) {
        TileId const id{column, row, plane};
        CutBlock const cut = cutter.cut(level, rows, id, true, scratch);
        std::vector<Moments> const part = block_moments(plan, level, rows, id, cut.samples);
        for (std::size_t s = 0; s < part.size(); ++s) { total[plane + s].merge(part[s]); }
      }
    }
  }
  return total;
}

struct Expected {
  std::uint64_t count = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum, mean = 0, m2 = 0;
};

template <class T, class Counts>
Expected expected_of(Image const& image, std::uint32_t band, Counts const& counts) {
  Expected result;
  std::vector<double> values;
  std::size_t const pixels = std::size_t{image.height} * image.width;
  for (std::size_t i = 0; i < pixels; ++i) {
    T value;
    std::memcpy(&value, image.bytes.data() + (band * pixels + i) * sizeof(T), sizeof value);
    if (!image.mask.empty() && image.mask[i] == std::byte{0}) { continue; }
    if (counts(value)) { values.push_back(static_cast<double>(value)); }
  }
  result.count = values.size();
  for (double const v : values) {
    result.minimum = std::min(result.minimum, v);
    result.maximum = std::max(result.maximum, v);
    result.mean += v / static_cast<double>(values.size());
  }
  for (double const v : values) { result.m2 += (v - result.mean) * (v - result.mean); }
  return result;
}

void expect_near(Moments const& found, Expected const& expected) {
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.minimum, expected.minimum);
  EXPECT_EQ(found.maximum, expected.maximum);
  EXPECT_NEAR(found.mean, expected.mean, 1e-9 * std::max(1.0, std::abs(expected.mean)));
  EXPECT_NEAR(found.m2, expected.m2, 1e-7 * std::max(1.0, expected.m2));
}

constexpr auto kAll = [](auto) { return true; };

TEST(BlockMoments, CountEveryPixelOnceAndNoPadding) {
  for (PlanarLayout const planar : {PlanarLayout::contiguous, PlanarLayout::separate}) {
    WriteOptions options;
    options.planar = planar;
    auto const check = [&]<class T>(DType dtype, T) {
      Image image = make_image(dtype, 2, 45, 37);
      auto const found = all_moments(image, options);
      for (std::uint32_t band = 0; band < 2; ++band) { expect_near(found[band], expected_of<T>(image, band, kAll)); }
    };
    check(DType::u8, std::uint8_t{});
    check(DType::i8, std::int8_t{});
    check(DType::u16, std::uint16_t{});
    check(DType::i16, std::int16_t{});
    check(DType::u32, std::uint32_t{});
    check(DType::i32, std::int32_t{});
    check(DType::u64, std::uint64_t{});
    check(DType::i64, std::int64_t{});
    check(DType::f32, float{});
    check(DType::f64, double{});
  }
}

TEST(BlockMoments, LeaveOutNodataNanAndMaskedPixels) {
  Image image = make_image(DType::f32, 1, 45, 80);
  punch_holes<float>(image, -9999, 10);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(image.bytes.data() + 4000, &nan, 4);
  add_mask(image);
  WriteOptions options;
  options.nodata = make_nodata("-9999", DType::f32);
  expect_near(all_moments(image, options)[0],
              expected_of<float>(image, 0, [](float v) { return v != -9999 && !std::isnan(v); }));
}

TEST(BlockMoments, LeaveOutNodataThatLostDigits) {
  Image image = make_image(DType::f32, 1, 45, 80);
  float const lowest = std::numeric_limits<float>::lowest();
  punch_holes<float>(image, lowest, 10);
  WriteOptions options;
  options.nodata = make_nodata("-3.40282306e+38", DType::f32);
  expect_near(all_moments(image, options)[0], expected_of<float>(image, 0, [&](float v) { return v != lowest; }));
}

// Zeros have a sign; as nodata both mean the same.
TEST(BlockMoments, TakeMinusZeroForNodataZero) {
  Image image = make_image(DType::f32, 1, 16, 16);
  punch_holes<float>(image, -0.0F, 4);
  WriteOptions options;
  options.nodata = make_nodata("0", DType::f32);
  expect_near(all_moments(image, options)[0], expected_of<float>(image, 0, [](float v) { return v != 0; }));
}

TEST(BlockMoments, AreOfTheRealPartOfComplexSamples) {
  Image image = make_image(DType::f32, 2, 20, 20), complex = make_image(DType::cf32, 2, 20, 20);
  for (std::size_t i = 0; i < image.bytes.size() / sizeof(float); ++i) {
    std::memcpy(complex.bytes.data() + i * 2 * sizeof(float), image.bytes.data() + i * sizeof(float), sizeof(float));
  }
  for (std::uint32_t band = 0; band < 2; ++band) {
    Moments const real = all_moments(image, {})[band], found = all_moments(complex, {})[band];
    EXPECT_EQ(found.count, real.count);
    EXPECT_EQ(found.mean, real.mean);
    EXPECT_EQ(found.m2, real.m2);
    EXPECT_EQ(found.minimum, real.minimum);
    EXPECT_EQ(found.maximum, real.maximum);
  }
}

TEST(BlockMoments, AreEmptyWithoutValidPixels) {
  Image image = make_image(DType::u8, 1, 20, 20);
  image.mask.assign(400, std::byte{0});
  EXPECT_EQ(all_moments(image, {})[0].count, 0U);
}

TEST(BlockMoments, ReadHalves) {
  Image image = make_image(DType::f16, 1, 16, 16);
  for (std::size_t i = 0; i < 256; ++i) {
    std::uint16_t const bits = i % 2 == 0 ? 0x3C00 : 0xC000;  // 1 and -2
    std::memcpy(image.bytes.data() + 2 * i, &bits, 2);
  }
  Moments const found = all_moments(image, {})[0];
  EXPECT_EQ(found.count, 256U);
  EXPECT_EQ(found.minimum, -2);
  EXPECT_EQ(found.maximum, 1);
  EXPECT_EQ(found.mean, -0.5);
  EXPECT_EQ(found.m2, 256 * 2.25);
}

// Large values with a small spread: the sums are taken from the first value of a row on.
TEST(BlockMoments, KeepTheSpreadOfLargeValues) {
  Image image = make_image(DType::f64, 1, 32, 16);
  for (std::size_t i = 0; i < 512; ++i) {
    double const value = 1e12 + static_cast<double>(i % 2);
    std::memcpy(image.bytes.data() + 8 * i, &value, 8);
  }
  Moments const found = all_moments(image, {})[0];
  EXPECT_DOUBLE_EQ(found.mean, 1e12 + 0.5);
  EXPECT_NEAR(found.m2 / 512, 0.25, 1e-6);
}

}  // namespace
}  // namespace terrazzo::writing
