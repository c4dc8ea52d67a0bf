// SPDX-License-Identifier: Apache-2.0
#include "read/mask.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace terrazzo::reading {
namespace {

constexpr std::uint32_t kWidth = 40, kHeight = 30;

bool masked_out(std::uint32_t row, std::uint32_t column) { return (row + column) % 5 == 0; }

std::vector<std::uint8_t> expected_mask(Window const& window, std::size_t bands) {
  std::vector<std::uint8_t> mask;
  for (std::size_t b = 0; b < bands; ++b) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c) {
        mask.push_back(masked_out(window.row + r, window.column + c) ? 0 : 255);
      }
    }
  }
  return mask;
}

// Two bands of floats and, as the second directory, a mask of `mask_values` (0 and something).
testing::TiffBuilder with_mask(std::uint8_t valid_value) {
  testing::TiffBuilder builder = image<float>({.width = kWidth, .height = kHeight, .bands = 2, .rows_per_strip = 7});
  builder.next_ifd();
  add_image<std::uint8_t>(builder,
                          {.width = kWidth,
                           .height = kHeight,
                           .tile_width = 16,
                           .tile_height = 16,
                           .compression = kPackBits,
                           .subfile_type = 4},
                          [=](std::uint32_t, std::uint32_t r, std::uint32_t c) {
                            return masked_out(r, c) ? std::uint8_t{0} : valid_value;
                          });
  return builder;
}

// Gray and alpha, of 16 bits, in either layout.
testing::TiffBuilder with_alpha(bool separate) {
  testing::TiffBuilder builder = image<std::uint16_t>(
      {.width = kWidth, .height = kHeight, .bands = 2, .rows_per_strip = 4, .separate = separate},
      [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
        return b == 0 ? value_at<std::uint16_t>(b, r, c) : static_cast<std::uint16_t>(masked_out(r, c) ? 0 : 300);
      });
  builder.shorts(338, {2});
  return builder;
}

TEST(ReadMask, WithoutAnyIsAllValid) {
  Opened const opened(image<float>({.width = 4, .height = 3, .bands = 2}));
  HostArray const mask = read_mask(*opened);
  EXPECT_EQ(opened->info().bands[0].mask, MaskKind::all_valid);
  EXPECT_EQ(mask.dtype(), DType::u8);
  EXPECT_EQ(values_of<std::uint8_t>(mask), std::vector<std::uint8_t>(24, 255));
}

TEST(ReadMask, ComesFromTheMaskDirectory) {
  for (std::uint8_t const valid : {std::uint8_t{1}, std::uint8_t{255}}) {
    Opened const opened(with_mask(valid));
    EXPECT_EQ(opened->info().bands[1].mask, MaskKind::internal);
    EXPECT_TRUE(opened->info().pages.empty()) << "a mask is no page";
    for (Window const& window : {Window{0, 0, kWidth, kHeight}, Window{13, 11, 20, 9}}) {
      EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.window = window})), expected_mask(window, 2));
      EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.window = window, .bands = {2}})),
                expected_mask(window, 1));
    }
  }
}

TEST(ReadMask, OfOneBitIsUnpacked) {
  testing::TiffBuilder builder = image<std::uint8_t>({.width = 10, .height = 2});
  builder.next_ifd();
  // Rows 10110000 11 and 01000000 00, each padded to a byte.
  std::vector<std::byte> const bits = {std::byte{0b10110000}, std::byte{0b11000000}, std::byte{0b01000000},
                                       std::byte{0}};
  auto const at = static_cast<std::uint32_t>(builder.data(bits));
  builder.longs(254, {4}).longs(256, {10}).longs(257, {2}).shorts(258, {1}).longs(273, {at}).longs(278, {2}).longs(279,
                                                                                                                   {4});
  Opened const opened(builder);
  EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened)),
            (std::vector<std::uint8_t>{255, 0,   255, 255, 0, 0, 0, 0, 255, 255,  //
                                       0,   255, 0,   0,   0, 0, 0, 0, 0,   0}));
}

TEST(ReadMask, ComesFromTheAlphaBand) {
  for (bool const separate : {false, true}) {
    Opened const opened(with_alpha(separate));
    ASSERT_EQ(opened->info().bands[0].mask, MaskKind::alpha);
    ASSERT_EQ(opened->info().bands[1].mask, MaskKind::all_valid) << "alpha itself has none";
    Window const window{3, 5, 30, 20};
    EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.window = window, .bands = {1}})), expected_mask(window, 1));
    auto const both = values_of<std::uint8_t>(read_mask(*opened, {.window = window}));
    EXPECT_TRUE(std::all_of(both.begin() + 600, both.end(), [](std::uint8_t v) { return v == 255; }));
  }
}

TEST(ReadMask, ComesFromNodata) {
  for (bool const separate : {false, true}) {
    testing::TiffBuilder builder = image<std::int32_t>({.width = 8, .height = 4, .bands = 2, .separate = separate});
    builder.ascii(42113, std::to_string(value_at<int>(1, 2, 3)));
    Opened const opened(builder);
    EXPECT_EQ(opened->info().bands[0].mask, MaskKind::nodata);
    auto const mask = values_of<std::uint8_t>(read_mask(*opened));
    for (std::uint32_t i = 0; i < 64; ++i) {
      bool const valid = value_at<int>(i / 32, i % 32 / 8, i % 8) != value_at<int>(1, 2, 3);
      ASSERT_EQ(mask[i], valid ? 255 : 0) << i;
    }
  }
}

TEST(ReadMask, IgnoresNodataThatNoPixelCanHave) {
  testing::TiffBuilder builder = image<std::uint8_t>({.width = 2, .height = 2});
  builder.ascii(42113, "-9999");
  Opened const opened(builder);
  EXPECT_EQ(opened->info().bands[0].mask, MaskKind::all_valid);
  EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened)), std::vector<std::uint8_t>(4, 255));
}

TEST(ReadMask, PrefersTheMaskToNodataAndAlpha) {
  testing::TiffBuilder builder = image<float>({.width = kWidth, .height = kHeight});
  builder.ascii(42113, "1");
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = kWidth, .height = kHeight, .subfile_type = 4},
                          [](std::uint32_t, std::uint32_t r, std::uint32_t c) {
                            return masked_out(r, c) ? std::uint8_t{0} : std::uint8_t{1};
                          });
  Opened const opened(builder);
  EXPECT_EQ(opened->info().bands[0].mask, MaskKind::internal);
  EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened)), (expected_mask({0, 0, kWidth, kHeight}, 1)));
}

TEST(ReadMask, IsResampledLikeThePixels) {
  Opened const opened(with_mask(255));
  HostArray const mask = read_mask(*opened, {.bands = {1}, .target_size = TargetSize{20, 10}});
  auto const values = values_of<std::uint8_t>(mask);
  for (std::uint32_t r = 0; r < 10; ++r) {
    for (std::uint32_t c = 0; c < 20; ++c) {
      ASSERT_EQ(values[r * 20 + c], masked_out(3 * r + 1, 2 * c + 1) ? 0 : 255);
    }
  }
}

TEST(ReadMask, OfAsManyBandsGivesEachBandItsOwn) {
  for (bool const separate : {false, true}) {
    testing::TiffBuilder builder = image<float>({.width = kWidth, .height = kHeight, .bands = 2});
    builder.next_ifd();
    auto const mask_value = [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
      return static_cast<std::uint8_t>((b == 0 ? r : c) < 3 ? 0 : 255);
    };
    add_image<std::uint8_t>(
        builder, {.width = kWidth, .height = kHeight, .bands = 2, .separate = separate, .subfile_type = 4}, mask_value);
    Opened const opened(builder);
    auto const mask = values_of<std::uint8_t>(read_mask(*opened, {.bands = {2, 1, 2}}));
    auto const pixels = values_of<float>(read(*opened, {.bands = {2, 1, 2}, .masked = true}));
    std::size_t i = 0;
    for (std::uint32_t const band : {1u, 0u, 1u}) {
      for (std::uint32_t r = 0; r < kHeight; ++r) {
        for (std::uint32_t c = 0; c < kWidth; ++c, ++i) {
          ASSERT_EQ(mask[i], mask_value(band, r, c)) << band << ": " << r << "," << c;
          ASSERT_EQ(std::isnan(pixels[i]), mask_value(band, r, c) == 0);
        }
      }
    }
  }
}

TEST(ReadMask, OfFullResolutionServesATargetFromAnOverviewWithoutOne) {
  testing::TiffBuilder builder = image<float>({.width = 40, .height = 20});
  builder.next_ifd();
  add_image<float>(builder, {.width = 20, .height = 10, .subfile_type = 1});
  builder.next_ifd();
  add_image<std::uint8_t>(
      builder, {.width = 40, .height = 20, .subfile_type = 4},
      [](std::uint32_t, std::uint32_t r, std::uint32_t) { return static_cast<std::uint8_t>(r < 6 ? 0 : 255); });
  Opened const opened(builder);
  ReadRequest const request{.window = Window{8, 4, 24, 16}, .target_size = TargetSize{12, 8}, .masked = true};
  ASSERT_EQ(plan(*opened, request).level(), 1u);
  auto const pixels = values_of<float>(read(*opened, request));
  auto const mask = values_of<std::uint8_t>(read_mask(*opened, request));
  for (std::uint32_t r = 0; r < 8; ++r) {
    EXPECT_EQ(std::isnan(pixels[r * 12 + 5]), 4 + 2 * r + 1 < 6) << r;
    EXPECT_EQ(mask[r * 12 + 5], 4 + 2 * r + 1 < 6 ? 0 : 255) << r;
  }
  // GDAL's rule too: a level that is asked for by its number has its own mask or none.
  EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.level = 1})), std::vector<std::uint8_t>(200, 255));
}

TEST(ReadMask, OfAnotherSizeIsNotTheMask) {
  testing::TiffBuilder builder = image<float>({.width = 10, .height = 10});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 9, .height = 10, .subfile_type = 4});
  Opened const opened(builder);
  EXPECT_EQ(opened->info().bands[0].mask, MaskKind::all_valid);
}

// ---------------------------------------------------------------------------------------------------------------
// Masked reads

TEST(MaskedRead, MakesNanWhereTheMaskSaysSo) {
  Opened const opened(with_mask(255));
  Window const window{5, 3, 21, 17};
  auto const values = values_of<float>(read(*opened, {.window = window, .bands = {2, 1}, .masked = true}));
  std::size_t i = 0;
  for (std::uint32_t const band : {1u, 0u}) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c, ++i) {
        if (masked_out(window.row + r, window.column + c)) {
          ASSERT_TRUE(std::isnan(values[i]));
        } else {
          ASSERT_EQ(values[i], value_at<float>(band, window.row + r, window.column + c));
        }
      }
    }
  }
}

TEST(MaskedRead, MakesNanWhereAlphaIsZeroButNotOfAlpha) {
  Opened const opened(with_alpha(false));
  auto const values = values_of<double>(read(*opened, {.masked = true}));
  for (std::uint32_t r = 0; r < kHeight; ++r) {
    for (std::uint32_t c = 0; c < kWidth; ++c) {
      ASSERT_EQ(std::isnan(values[r * kWidth + c]), masked_out(r, c));
      ASSERT_EQ(values[kWidth * kHeight + r * kWidth + c], masked_out(r, c) ? 0 : 300);
    }
  }
}

TEST(MaskedRead, MakesZeroInIntegersAndFollowsStrides) {
  Opened const opened(with_mask(255));
  std::vector<std::uint8_t> memory(kWidth * kHeight * 2, 99);
  // Band last, bottom up.
  HostView const view{
      memory.data() + (kHeight - 1) * kWidth * 2, DType::u8, 2, kHeight, kWidth, 1, -std::int64_t{kWidth} * 2, 2};
  read_into(*opened, {.masked = true}, view);
  for (std::uint32_t r = 0; r < kHeight; ++r) {
    for (std::uint32_t c = 0; c < kWidth; ++c) {
      for (std::uint32_t b = 0; b < 2; ++b) {
        ASSERT_EQ(memory[((kHeight - 1 - r) * kWidth + c) * 2 + b],
                  masked_out(r, c) ? 0 : value_at<std::uint8_t>(b, r, c));
      }
    }
  }
}

TEST(MaskedRead, UsesTheMaskOfTheOverviewForTheOverview) {
  testing::TiffBuilder builder = image<float>({.width = 20, .height = 20});
  builder.next_ifd();
  add_image<float>(builder, {.width = 10, .height = 10, .subfile_type = 1});
  builder.next_ifd();
  add_image<std::uint8_t>(
      builder, {.width = 10, .height = 10, .subfile_type = 5},
      [](std::uint32_t, std::uint32_t r, std::uint32_t) { return static_cast<std::uint8_t>(r == 4 ? 0 : 255); });
  builder.next_ifd();
  add_image<std::uint8_t>(
      builder, {.width = 20, .height = 20, .subfile_type = 4},
      [](std::uint32_t, std::uint32_t r, std::uint32_t) { return static_cast<std::uint8_t>(r == 9 ? 0 : 255); });
  Opened const opened(builder);
  ASSERT_EQ(opened->info().overviews.size(), 1u);
  EXPECT_TRUE(opened->info().overviews[0].has_mask);
  auto const small = values_of<float>(read(*opened, {.level = 1, .masked = true}));
  auto const full = values_of<float>(read(*opened, {.masked = true}));
  for (std::uint32_t r = 0; r < 10; ++r) { EXPECT_EQ(std::isnan(small[r * 10 + 3]), r == 4) << r; }
  for (std::uint32_t r = 0; r < 20; ++r) { EXPECT_EQ(std::isnan(full[r * 20 + 3]), r == 9) << r; }
}

TEST(MaskedRead, FailsWhenTheMaskIsBad) {
  testing::TiffBuilder builder = image<float>({.width = 20, .height = 20});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 20,
                                    .height = 20,
                                    .compression = kPackBits,
                                    .subfile_type = 4,
                                    .edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(30); }});
  Opened const opened(builder);
  EXPECT_NO_THROW(static_cast<void>(read(*opened)));
  Error const error = failure_of([&] { static_cast<void>(read(*opened, {.masked = true})); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.where().ifd, 1u) << "the mask's directory";
}

}  // namespace
}  // namespace terrazzo::reading
