// SPDX-License-Identifier: Apache-2.0
//
// Also run under ThreadSanitizer. tests/python/test_resampling.py compares pixels with GDAL's.
#include "read/filter/filtered_read.hpp"

#include "read/images.hpp"

#include <gtest/gtest.h>

#include <atomic>
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
