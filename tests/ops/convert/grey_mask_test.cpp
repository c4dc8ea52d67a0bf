// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/grey_mask.hpp"

#include "support/raster.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::Raster;

constexpr std::uint32_t kWidth = 40, kHeight = 30;

// Two bands and a mask of 8 bits: 0 in the upper half, 255 below, and `shade` in the last pixel.
Raster with_mask(std::uint8_t shade) {
  std::vector<std::uint8_t> pixels(std::size_t{kWidth} * kHeight * 2, 7);
  auto builder = testing::raster_builder<std::uint8_t>(kWidth, kHeight, pixels, 4, 2);
  builder.next_ifd();
  std::vector<std::uint8_t> mask(std::size_t{kWidth} * kHeight, 255);
  std::fill_n(mask.begin(), mask.size() / 2, std::uint8_t{0});
  mask.back() = shade;
  auto const at = static_cast<std::uint32_t>(builder.data(testing::as_bytes(mask)));
  builder.longs(254, {4}).longs(256, {kWidth}).longs(257, {kHeight}).shorts(258, {8}).longs(273, {at});
  builder.longs(278, {kHeight}).longs(279, {kWidth * kHeight});
  return Raster(builder);
}

TEST(NeededMaskBits, AreEightForShadesOfTheWindowOnly) {
  EXPECT_EQ(needed_mask_bits(with_mask(255).dataset(), {}, {}), 1U);
  Raster const grey = with_mask(128);
  EXPECT_EQ(needed_mask_bits(grey.dataset(), {}, {}), 8U);
  EXPECT_EQ(needed_mask_bits(grey.dataset(), {.window = Window{0, 0, kWidth - 1, kHeight}}, {}), 1U);
  ReadRequest const averaged{.target_size = TargetSize{10, 10}, .resampling = Resampling::average};
  EXPECT_EQ(needed_mask_bits(grey.dataset(), averaged, {}), 1U);
}

TEST(NeededMaskBits, AreOneWithoutAMaskImage) {
  Raster const plain(testing::raster_builder<std::uint8_t>(4, 1, {1, 2, 3, 4}, 1));
  EXPECT_EQ(needed_mask_bits(plain.dataset(), {}, {}), 1U);
}

TEST(GreyMask, StaysGreyInConversions) {
  Raster const source = with_mask(128);
  for (bool const cog : {false, true}) {
    WriteOptions options = conversion_options(source.dataset());
    options.cog = cog;
    options.tile_size = {16, 16};
    std::vector<std::byte> bytes;
    static_cast<void>(convert(source.dataset(), memory_sink(bytes), options));
    HostArray const before = read_mask(source.dataset()), after = read_mask(open_memory(bytes));
    EXPECT_EQ(after.bytes().back(), std::byte{128});
    EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  }
}

TEST(GreyMask, BecomesBlackAndWhiteOnRequest) {
  Raster const source = with_mask(128);
  WriteOptions options = conversion_options(source.dataset());
  options.mask_bits = 1;
  std::vector<std::byte> bytes;
  static_cast<void>(convert(source.dataset(), memory_sink(bytes), options));
  EXPECT_EQ(read_mask(open_memory(bytes)).bytes().back(), std::byte{255});
  options.mask_bits = 4;
  EXPECT_THROW(static_cast<void>(convert(source.dataset(), memory_sink(bytes), options)), Error);
}

}  // namespace
}  // namespace terrazzo::ops
