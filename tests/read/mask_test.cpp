// SPDX-License-Identifier: Apache-2.0
#include "read/mask.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace terrazzo::reading {
namespace {

constexpr std::uint32_t kWidth = 40, kHeight = 30;

bool masked_out(std::uint32_t row, std::uint32_t column) { return (row + column) % 5 == 0; }

std::vector<std::uint8_t> expected_mask(Window const& window, std::size_t bands, std::uint8_t valid = 255) {
  std::vector<std::uint8_t> mask;
  for (std::size_t b = 0; b < bands; ++b) {
    for (std::uint32_t r = 0; r < window.height; ++r) {
      for (std::uint32_t c = 0; c < window.width; ++c) {
        mask.push_back(masked_out(window.row + r, window.column + c) ? std::uint8_t{0} : valid);
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

TEST(ReadMask, ComesFromTheMaskDirectoryWithItsShades) {
  for (std::uint8_t const valid : {std::uint8_t{1}, std::uint8_t{90}, std::uint8_t{255}}) {
    Opened const opened(with_mask(valid));
    EXPECT_EQ(opened->info().bands[1].mask, MaskKind::internal);
    EXPECT_TRUE(opened->info().pages.empty()) << "a mask is no page";
    for (Window const& window : {Window{0, 0, kWidth, kHeight}, Window{13, 11, 20, 9}}) {
      EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.window = window})), expected_mask(window, 2, valid));
      EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened, {.window = window, .bands = {2}})),
                expected_mask(window, 1, valid));
    }
    // Any shade but 0 is valid.
    auto const pixels = values_of<float>(read(*opened, {.bands = {1}, .masked = true}));
    for (std::uint32_t i = 0; i < kWidth * kHeight; ++i) {
      ASSERT_EQ(std::isnan(pixels[i]), masked_out(i / kWidth, i % kWidth)) << i;
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
                            return masked_out(r, c) ? std::uint8_t{0} : std::uint8_t{255};
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

TEST(ReadMask, OfALevelWithoutOneIsByNodata) {
  testing::TiffBuilder builder = image<float>({.width = 40, .height = 20});
  builder.ascii(42113, std::to_string(value_at<int>(0, 2, 3)));
  builder.next_ifd();
  add_image<float>(builder, {.width = 20, .height = 10, .subfile_type = 1});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 40, .height = 20, .subfile_type = 4});
  Opened const opened(builder);
  ASSERT_EQ(opened->info().bands[0].mask, MaskKind::internal);
  auto const mask = values_of<std::uint8_t>(read_mask(*opened, {.level = 1}));
  EXPECT_EQ(mask[2 * 20 + 3], 0);
  EXPECT_EQ(mask[2 * 20 + 4], 255);
  auto const pixels = values_of<float>(read(*opened, {.level = 1, .masked = true}));
  EXPECT_TRUE(std::isnan(pixels[2 * 20 + 3]));
  EXPECT_FALSE(std::isnan(pixels[2 * 20 + 4]));
}

TEST(ReadMask, OfAnOverviewAloneCountsForNothing) {
  testing::TiffBuilder builder = image<float>({.width = 40, .height = 20});
  builder.ascii(42113, std::to_string(value_at<int>(0, 2, 3)));
  builder.next_ifd();
  add_image<float>(builder, {.width = 20, .height = 10, .subfile_type = 1});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 20, .height = 10, .subfile_type = 5},
                          [](std::uint32_t, std::uint32_t, std::uint32_t) { return std::uint8_t{0}; });
  Opened const opened(builder);
  ASSERT_TRUE(opened->info().overviews[0].has_mask);
  ASSERT_EQ(opened->info().bands[0].mask, MaskKind::nodata);
  for (ReadRequest request : {ReadRequest{.level = 1}, ReadRequest{.target_size = TargetSize{20, 10}}}) {
    request.masked = true;
    ASSERT_EQ(plan(*opened, request).level(), 1u);
    auto const pixels = values_of<float>(read(*opened, request));
    request.masked = false;
    auto const mask = values_of<std::uint8_t>(read_mask(*opened, request));
    for (std::size_t i = 0; i < mask.size(); ++i) {
      bool const missing = i == 2 * 20 + 3;
      ASSERT_EQ(mask[i], missing ? 0 : 255) << i;
      ASSERT_EQ(std::isnan(pixels[i]), missing) << i;
    }
  }
}

// Written with fewer digits than the pixels have: GDAL masks them.
TEST(ReadMask, FindsNodataThatLostDigits) {
  testing::TiffBuilder builder;
  add_image<float>(builder, {.width = 2, .height = 1},
                   [](std::uint32_t, std::uint32_t, std::uint32_t c) { return c == 0 ? -3.4028235e38F : -3.0F; });
  builder.ascii(42113, "-3.40282306e+38");
  Opened const opened(builder);
  EXPECT_EQ(values_of<std::uint8_t>(read_mask(*opened)), (std::vector<std::uint8_t>{0, 255}));
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

// The engine's part of a masked read, with its report.
std::vector<float> execute(Opened const& opened, ReadRequest request, ReadReport& report) {
  request.masked = true;
  auto const plan = make_plan(opened->shared_impl(), request);
  MemoryBudget budget(1 << 24);
  HostArray result(plan->dtype, static_cast<std::uint32_t>(plan->bands.size()), plan->out_height, plan->out_width);
  ReadJob const job{plan};
  execute_masked({&job, 1}, request, result.view(), budget, report);
  return values_of<float>(result);
}

// Two bands, a mask of three by two tiles that is valid everywhere, and nothing left of the mask's tile (1, 0).
testing::TiffBuilder with_bad_mask_tile(std::uint16_t mask_bands = 1) {
  testing::TiffBuilder builder = image<float>({.width = kWidth, .height = kHeight, .bands = 2, .rows_per_strip = 7});
  builder.next_ifd();
  add_image<std::uint8_t>(builder,
                          {.width = kWidth,
                           .height = kHeight,
                           .bands = mask_bands,
                           .tile_width = 16,
                           .tile_height = 16,
                           .compression = kPackBits,
                           .subfile_type = 4,
                           .edit =
                               [](std::uint64_t block, std::vector<std::byte>& bytes) {
                                 if (block == 1) { bytes.resize(1); }
                               }},
                          [](std::uint32_t, std::uint32_t, std::uint32_t) { return std::uint8_t{255}; });
  return builder;
}

TEST(BadMaskTiles, AreListedAsTheMasksAndMakeTheirPixelsInvalid) {
  for (std::uint16_t const mask_bands : {std::uint16_t{1}, std::uint16_t{2}}) {
    Opened const opened(with_bad_mask_tile(mask_bands));
    ReadReport report;
    auto const values = execute(opened, {.bad_tile = BadTile::fill, .threads = 2}, report);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::uint32_t const row = i / kWidth % kHeight, column = i % kWidth;
      ASSERT_EQ(std::isnan(values[i]), row < 16 && column / 16 == 1) << row << "," << column;
    }
    ASSERT_EQ(report.bad_tiles.size(), 1u) << "once, however many bands share it";
    EXPECT_EQ(report.bad_tiles[0].tile, (TileId{1, 0, 0}));
    EXPECT_TRUE(report.bad_tiles[0].message.starts_with("mask (IFD 1): packbits")) << report.bad_tiles[0].message;
    EXPECT_EQ(report.tiles, 5u + 5u * mask_bands) << "strips of pixels and tiles of masks";
  }
}

TEST(BadMaskTiles, AreListedBesideBadTilesOfThePixels) {
  testing::TiffBuilder builder = image<float>(
      {.width = 20, .height = 20, .compression = kPackBits, .edit = [](std::uint64_t, std::vector<std::byte>& b) {
         b.resize(1);
       }});
  builder.next_ifd();
  add_image<std::uint8_t>(builder, {.width = 20,
                                    .height = 20,
                                    .compression = kPackBits,
                                    .subfile_type = 4,
                                    .edit = [](std::uint64_t, std::vector<std::byte>& b) { b.resize(1); }});
  Opened const opened(builder);
  ReadReport report;
  static_cast<void>(execute(opened, {.bad_tile = BadTile::fill}, report));
  ASSERT_EQ(report.bad_tiles.size(), 2u);
  EXPECT_TRUE(report.bad_tiles[0].message.starts_with("packbits"));
  EXPECT_TRUE(report.bad_tiles[1].message.starts_with("mask (IFD 1): "));
}

TEST(BadMaskTiles, ThatHoldPixelsTooAreListedOnce) {
  ImageSpec spec{.width = kWidth, .height = kHeight, .bands = 2, .rows_per_strip = 10, .compression = kPackBits};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1) { bytes.resize(1); }
  };
  testing::TiffBuilder builder = image<std::uint8_t>(spec);
  builder.shorts(338, {2});  // the second band is alpha, in the same strips as the first
  Opened const opened(builder);
  ASSERT_EQ(opened->info().bands[0].mask, MaskKind::alpha);
  ReadReport report;
  auto const values = execute(opened, {.bands = {1}, .dtype = DType::f32, .bad_tile = BadTile::fill}, report);
  EXPECT_EQ(report.bad_tiles.size(), 1u);
  EXPECT_TRUE(std::isnan(values[10 * kWidth])) << "alpha is not known there";
  EXPECT_EQ(values[9 * kWidth], value_at<float>(0, 9, 0));
}

TEST(BadMaskTiles, AreInTheReportOfTheMaskItself) {
  Opened const opened(with_bad_mask_tile());
  ReadRequest const request{.bad_tile = BadTile::fill};
  auto const plan = make_plan(opened->shared_impl(), request);
  MemoryBudget budget(1 << 20);
  HostArray mask(DType::u8, 2, kHeight, kWidth);
  ReadReport report;
  read_masks(*plan, request, mask.view(), budget, report);
  EXPECT_EQ(report.bad_tiles.size(), 1u);
  EXPECT_EQ(values_of<std::uint8_t>(mask)[16], 0);
  EXPECT_EQ(values_of<std::uint8_t>(mask)[15], 255);
}

// ---------------------------------------------------------------------------------------------------------------
// Progress

// Checks that calls grow to `total` and are never of another total.
class Watched {
 public:
  explicit Watched(std::uint64_t total) : total_(total) {}
  [[nodiscard]] Progress function() {
    return [this](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(total, total_);
      EXPECT_GE(done, last_);
      last_ = done;
      return true;
    };
  }
  [[nodiscard]] std::uint64_t last() const { return last_; }

 private:
  std::uint64_t total_, last_ = 0;
};

TEST(MaskedReadProgress, IsOneOverPixelsAndMasks) {
  for (std::uint16_t const mask_bands : {std::uint16_t{1}, std::uint16_t{2}}) {
    std::uint64_t const total = 5 + 6 * mask_bands;
    Watched watched(total);
    ReadReport report;
    ReadRequest request{.bad_tile = BadTile::fill, .threads = 2};
    request.progress = watched.function();
    static_cast<void>(execute(Opened(with_bad_mask_tile(mask_bands)), request, report));
    EXPECT_EQ(watched.last(), total);
  }
}

TEST(MaskedReadProgress, OfAMaskIsOneOverItsBands) {
  testing::TiffBuilder builder = image<float>({.width = 8, .height = 8, .bands = 3, .rows_per_strip = 2});
  builder.ascii(42113, "1");
  Opened const opened(builder);
  Watched watched(3 * 4);
  ReadRequest request;
  request.progress = watched.function();
  static_cast<void>(read_mask(*opened, request));
  EXPECT_EQ(watched.last(), 12u);
}

}  // namespace
}  // namespace terrazzo::reading
