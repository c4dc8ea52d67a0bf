// SPDX-License-Identifier: Apache-2.0
//
// Also run under ThreadSanitizer. tests/python/read/test_resampling.py compares pixels with GDAL's.
#include "read/filter/filtered_read.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {
namespace {

constexpr std::uint32_t kWidth = 60, kHeight = 48;

std::uint16_t pixel_at(std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  return static_cast<std::uint16_t>(1000 * band + 16 * row + column);
}

testing::TiffBuilder ramp(std::uint32_t width, std::uint32_t height, std::uint16_t bands = 1) {
  return image<std::uint16_t>(
      {.width = width, .height = height, .bands = bands, .tile_width = 16, .tile_height = 16, .compression = kPackBits},
      pixel_at);
}

// Means of squares of four pixels.
std::vector<std::uint16_t> means_of_fours(std::uint32_t width, std::uint32_t height, std::uint32_t bands) {
  std::vector<std::uint16_t> means;
  for (std::uint32_t b = 0; b < bands; ++b) {
    for (std::uint32_t r = 0; r < height; r += 2) {
      for (std::uint32_t c = 0; c < width; c += 2) {
        std::uint32_t const sum =
            pixel_at(b, r, c) + pixel_at(b, r, c + 1) + pixel_at(b, r + 1, c) + pixel_at(b, r + 1, c + 1);
        means.push_back(static_cast<std::uint16_t>((sum + 2) / 4));
      }
    }
  }
  return means;
}

ReadRequest halved(Resampling method = Resampling::average) {
  ReadRequest request;
  request.target_size = TargetSize{kWidth / 2, kHeight / 2};
  request.resampling = method;
  return request;
}

TEST(FilteredRead, AveragesEveryBand) {
  Opened const opened(ramp(kWidth, kHeight, 3));
  for (unsigned const threads : {1U, 4U}) {
    ReadRequest request = halved();
    request.threads = threads;
    EXPECT_EQ(values_of<std::uint16_t>(read(*opened, request)), means_of_fours(kWidth, kHeight, 3));
  }
}

TEST(FilteredRead, TakesBandsInTheOrderOfTheRequest) {
  Opened const opened(ramp(kWidth, kHeight, 3));
  ReadRequest request = halved();
  request.bands = {3, 1, 3};
  std::vector<std::uint16_t> const all = means_of_fours(kWidth, kHeight, 3);
  std::vector<std::uint16_t> const found = values_of<std::uint16_t>(read(*opened, request));
  std::size_t const band = all.size() / 3;
  ASSERT_EQ(found.size(), all.size());
  for (std::size_t i = 0; i < band; ++i) {
    ASSERT_EQ(found[i], all[2 * band + i]);
    ASSERT_EQ(found[band + i], all[i]);
    ASSERT_EQ(found[2 * band + i], all[2 * band + i]);
  }
}

TEST(FilteredRead, GivesTheSamePixelsWithLittleMemory) {
  Opened const opened(ramp(8000, 800));
  for (Resampling const method : {Resampling::average, Resampling::cubic, Resampling::maximum}) {
    ReadRequest request;
    request.target_size = TargetSize{40, 8};
    request.resampling = method;
    request.threads = 1;
    std::vector<std::uint16_t> const whole = values_of<std::uint16_t>(read(*opened, request));
    request.memory_limit_bytes = 8 << 20;  // the source rows of one result row take 5 MB and more
    EXPECT_EQ(values_of<std::uint16_t>(read(*opened, request)), whole) << to_string(method);
    request.memory_limit_bytes = 100'000;
    try {
      static_cast<void>(read(*opened, request));
      ADD_FAILURE() << "too little memory for one column";
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
  }
}

// Each thread of a kernel keeps the filtered source rows of a result row: 700 rows of 4000 doubles here, 25 MB.
TEST(FilteredRead, KeepsFilteredRowsWithinTheLimit) {
  Opened const opened(ramp(700, 700, 3));
  ReadRequest request;
  request.target_size = TargetSize{4000, 3};
  request.resampling = Resampling::lanczos;
  request.threads = 8;
  std::vector<std::uint16_t> const whole = values_of<std::uint16_t>(read(*opened, request));
  request.memory_limit_bytes = 16 << 20;
  EXPECT_EQ(values_of<std::uint16_t>(read(*opened, request)), whole);
}

TEST(FilteredRead, RefusesTablesBeforeItLooksAtEveryRow) {
  Opened const opened(ramp(16, 16));
  ReadRequest request;
  request.target_size = TargetSize{1, 100'000'000};
  request.resampling = Resampling::cubic;
  request.memory_limit_bytes = 1 << 30;
  auto const start = std::chrono::steady_clock::now();
  try {
    static_cast<void>(read(*opened, request));
    ADD_FAILURE() << "tables of 12 GB";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(FilteredRead, ConvertsTheResampledPixels) {
  Opened const opened(ramp(kWidth, kHeight));
  ReadRequest request = halved();
  request.dtype = DType::f32;
  std::vector<float> const converted = values_of<float>(read(*opened, request));
  std::vector<std::uint16_t> const stored = means_of_fours(kWidth, kHeight, 1);
  EXPECT_TRUE(std::equal(converted.begin(), converted.end(), stored.begin(), stored.end()));
}

// Columns 0 to 30 are masked.
testing::TiffBuilder with_mask() {
  testing::TiffBuilder builder = ramp(kWidth, kHeight);
  builder.next_ifd();
  add_image<std::uint8_t>(
      builder, {.width = kWidth, .height = kHeight, .tile_width = 16, .tile_height = 16, .subfile_type = 4},
      [](std::uint32_t, std::uint32_t, std::uint32_t c) { return static_cast<std::uint8_t>(c < 31 ? 0 : 255); });
  return builder;
}

TEST(FilteredRead, IgnoresMaskedPixels) {
  Opened const opened(with_mask());
  ReadRequest request = halved();
  std::vector<std::uint16_t> const values = values_of<std::uint16_t>(read(*opened, request));
  EXPECT_EQ(values[14], 0) << "no valid pixel";
  EXPECT_EQ(values[15], (pixel_at(0, 0, 31) + pixel_at(0, 1, 31) + 1) / 2) << "the right half of its square";
  request.masked = true;
  std::vector<double> const masked = values_of<double>(read(*opened, request));
  EXPECT_TRUE(std::isnan(masked[14]));
  EXPECT_EQ(masked[15], values[15]);
}

TEST(FilteredMasks, AreValidWhereAPixelIs) {
  Opened const opened(with_mask());
  std::vector<std::uint8_t> const mask = values_of<std::uint8_t>(read_mask(*opened, halved()));
  for (std::size_t i = 0; i < mask.size(); ++i) { ASSERT_EQ(mask[i], i % 30 < 15 ? 0 : 255) << i; }
  Opened const all_valid(ramp(kWidth, kHeight));
  std::vector<std::uint8_t> const all = values_of<std::uint8_t>(read_mask(*all_valid, halved()));
  EXPECT_EQ(all, std::vector<std::uint8_t>(all.size(), 255));
}

// Rows of tiles 0, 3, 4 and 5 are not in the file, or hold their fill.
testing::TiffBuilder half_absent(bool is_sparse, char const* nodata, float fill) {
  auto const is_present = [](std::uint32_t tile_row) { return tile_row == 1 || tile_row == 2 || tile_row == 6; };
  testing::TiffBuilder builder =
      image<float>({.width = 50,
                    .height = 110,
                    .tile_width = 16,
                    .tile_height = 16,
                    .edit =
                        [&](std::uint64_t block, std::vector<std::byte>& bytes) {
                          if (is_sparse && !is_present(static_cast<std::uint32_t>(block / 4))) { bytes.clear(); }
                        }},
                   [&](std::uint32_t, std::uint32_t r, std::uint32_t c) {
                     return is_present(r / 16) ? static_cast<float>(pixel_at(0, r, c)) : fill;
                   });
  if (nodata != nullptr) { builder.ascii(42113, nodata); }
  return builder;
}

TEST(FilteredRead, GivesAbsentBlocksTheirFill) {
  struct Case {
    char const* nodata;
    float fill;
  };
  for (Case const& c : {Case{nullptr, 0.0F}, Case{"-9999", -9999.0F}, Case{"nan", std::nanf("")}}) {
    Opened const sparse(half_absent(true, c.nodata, c.fill)), whole(half_absent(false, c.nodata, c.fill));
    for (Resampling const method :
         {Resampling::average, Resampling::rms, Resampling::bilinear, Resampling::cubic_spline, Resampling::lanczos,
          Resampling::mode, Resampling::minimum, Resampling::median}) {
      for (TargetSize const size : {TargetSize{25, 55}, TargetSize{7, 31}, TargetSize{61, 200}}) {
        ReadRequest request;
        request.target_size = size;
        request.resampling = method;
        ReadReport report;
        HostArray const found = read(*sparse, request, &report), wanted = read(*whole, request);
        EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes()))
            << to_string(method) << " to " << size.width << " x " << size.height;
        // A strip that begins in a row of tiles that the one before has counted counts it again: once for each of the
        // two edges between absent and present tiles.
        EXPECT_GE(report.sparse_tiles, 16u);
        EXPECT_LE(report.sparse_tiles, 16u + 2 * 4u);
        HostArray const found_mask = read_mask(*sparse, request), wanted_mask = read_mask(*whole, request);
        EXPECT_TRUE(std::ranges::equal(found_mask.bytes(), wanted_mask.bytes())) << to_string(method);
      }
    }
  }
}

// 69 billion pixels: reading them would take minutes.
TEST(FilteredRead, DoesNotReadWhatIsAbsent) {
  testing::TiffBuilder builder;
  builder.longs(256, {1 << 18}).longs(257, {1 << 18}).shorts(258, {8}).shorts(259, {1}).shorts(262, {1});
  builder.longs(322, {1 << 13}).longs(323, {1 << 13});
  builder.longs(324, std::vector<std::uint32_t>(32 * 32, 0)).longs(325, std::vector<std::uint32_t>(32 * 32, 0));
  Opened const opened(builder);
  ReadRequest request;
  request.target_size = TargetSize{64, 64};
  request.resampling = Resampling::average;
  request.memory_limit_bytes = 512 << 20;
  std::vector<std::uint8_t> const pixels = values_of<std::uint8_t>(read(*opened, request));
  EXPECT_EQ(pixels, std::vector<std::uint8_t>(64 * 64, 0));
}

TEST(FilteredRead, TellsOneProgress) {
  Opened const opened(ramp(kWidth, kHeight));
  ReadRequest request = halved();
  std::uint64_t last = 0, total = 0;
  request.progress = [&](std::uint64_t done, std::uint64_t of) {
    EXPECT_GE(done, last);
    last = done;
    total = of;
    return true;
  };
  static_cast<void>(read(*opened, request));
  EXPECT_EQ(last, total);
  EXPECT_EQ(total, plan(*opened, request).tile_count());
}

TEST(FilteredRead, IsCancelledByProgressAndByTheFlag) {
  Opened const opened(ramp(kWidth, kHeight));
  ReadRequest by_progress = halved();
  by_progress.progress = [](std::uint64_t, std::uint64_t) { return false; };
  std::atomic<bool> const cancelled{true};
  ReadRequest by_flag = halved();
  by_flag.cancel = &cancelled;
  for (ReadRequest const& request : {by_progress, by_flag}) {
    try {
      static_cast<void>(read(*opened, request));
      ADD_FAILURE() << "not cancelled";
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
  }
}

}  // namespace
}  // namespace terrazzo::reading
