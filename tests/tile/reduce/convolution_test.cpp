// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

namespace terrazzo::tile {
namespace {

constexpr Resampling kKernels[] = {Resampling::bilinear, Resampling::cubic, Resampling::cubic_spline,
                                   Resampling::lanczos};

TEST(ReduceKernel, KeepsAFlatRasterFlat) {
  for (Resampling const method : kKernels) {
    for (std::uint32_t const size : {1U, 2U, 7U, 40U, 41U}) {
      Raster<std::uint8_t> const source{size, size, std::vector<std::uint8_t>(std::size_t{size} * size, 200), {}};
      auto const result = reduced(source, {.width = (size + 1) / 2, .height = (size + 1) / 2, .method = method});
      for (std::uint8_t const pixel : result.pixels) { EXPECT_EQ(pixel, 200); }
    }
  }
}

TEST(ReduceKernel, WeighsByDistanceInResultPixels) {
  // Halved, the middle of result pixel 1 is at 3: distances of 0.25 and 0.75 on both sides, 1 - distance each.
  Raster<double> const source{6, 1, {0, 8, 0, 0, 0, 0}, {}};
  auto const result = reduced(source, {.width = 3, .height = 1, .method = Resampling::bilinear});
  EXPECT_DOUBLE_EQ(result.pixels[1], 8 * 0.25 / 2);
}

TEST(ReduceKernel, ScalesTheOthersUpWherePixelsAreMissing) {
  for (Resampling const method : kKernels) {
    Raster<float> source{16, 16, std::vector<float>(256, 5), {}};
    source.pixels[100] = -9999;
    auto const result = reduced(source, {.width = 8, .height = 8, .method = method, .nodata = Nodata{.value = -9999}});
    for (float const pixel : result.pixels) { EXPECT_NEAR(pixel, 5, 1e-5); }
  }
}

TEST(ReduceKernel, WantsHalfOfTheWindowInOnePieceForNegativeWeights) {
  Raster<float> source{16, 16, std::vector<float>(256, -9999), {}};
  source.pixels[7 * 16 + 7] = 5;
  ReduceTo to{.width = 8, .height = 8, .method = Resampling::cubic, .nodata = Nodata{.value = -9999}};
  EXPECT_EQ(reduced(source, to).pixels[3 * 8 + 3], -9999);
  to.method = Resampling::bilinear;
  EXPECT_EQ(reduced(source, to).pixels[3 * 8 + 3], 5);
}

TEST(ReduceKernel, EndsOvershootsAtTheLimitsOfTheType) {
  Raster<std::uint8_t> source{16, 16, std::vector<std::uint8_t>(256, 255), {}};
  for (std::size_t i = 0; i < 256; ++i) {
    if (i % 16 < 8) { source.pixels[i] = 0; }
  }
  auto const result = reduced(source, {.width = 8, .height = 8, .method = Resampling::lanczos});
  EXPECT_EQ(result.pixels[0], 0);
  EXPECT_EQ(result.pixels[7], 255);
  EXPECT_EQ(result.pixels[5], 255);
}

TEST(ReduceKernel, MasksWhereThePixelsAreMissing) {
  Raster<float> source{16, 16, std::vector<float>(256, 5), std::vector<std::uint8_t>(256, 0)};
  for (std::size_t i = 0; i < 128; ++i) { source.mask[i] = 255; }
  auto const result = reduced(source, {.width = 8, .height = 8, .method = Resampling::bilinear});
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(result.pixels[i], result.mask[i] != 0 ? 5.0F : 0.0F);
    if (i < 32) { EXPECT_EQ(result.mask[i], 255); }
    if (i >= 40) { EXPECT_EQ(result.mask[i], 0); }
  }
}

}  // namespace
}  // namespace terrazzo::tile
