// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/canvas.hpp"

#include "support/failure.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace terrazzo::ops {
namespace {

constexpr std::uint8_t kFill = 99;

std::uint8_t sample(Patch& patch, std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  return static_cast<std::uint8_t>(*patch.samples(band, row, column).first);
}

void set(Patch& patch, std::uint32_t band, std::uint32_t row, std::uint32_t column, int value) {
  *patch.samples(band, row, column).first = static_cast<std::byte>(value);
}

class CanvasTest : public ::testing::Test {
 protected:
  Canvas make(PixelFormat const& format, MosaicRule rule) {
    Canvas canvas(format, rule, 2, 4, budget_);
    std::byte const fill{kFill};
    canvas.clear({&fill, 1});
    return canvas;
  }
  // One row of valid pixels; all bands have the value.
  Patch patch(PixelFormat const& format, std::uint32_t width, int value) {
    Patch made(format, 1, width, budget_);
    std::ranges::fill(made.bytes(), static_cast<std::byte>(value));
    std::ranges::fill(made.valid_bytes(), std::byte{255});
    return made;
  }
  MemoryBudget budget_{1 << 20};
};

TEST_F(CanvasTest, IsMissingEverywhereAfterClear) {
  Canvas canvas = make({.bands = 2, .interleaved = true}, MosaicRule::first);
  EXPECT_EQ(sample(canvas.patch(), 1, 1, 3), kFill);
  EXPECT_FALSE(canvas.is_complete(0, 0, 1, 1));
}

TEST_F(CanvasTest, ComposesTheFirstValidPatch) {
  for (bool const interleaved : {false, true}) {
    PixelFormat const format{.bands = 3, .interleaved = interleaved};
    Canvas canvas = make(format, MosaicRule::first);
    Patch a = patch(format, 2, 5), b = patch(format, 3, 7);
    a.valid(0, 0, 1, 1)[0] = 0;
    canvas.compose(a, 0, 1, 0);
    canvas.compose(b, 0, 1, 0);
    for (std::uint32_t band = 0; band < 3; ++band) {
      EXPECT_EQ(sample(canvas.patch(), band, 1, 0), 5);
      EXPECT_EQ(sample(canvas.patch(), band, 1, 1), 7);
      EXPECT_EQ(sample(canvas.patch(), band, 1, 2), 7);
      EXPECT_EQ(sample(canvas.patch(), band, 1, 3), kFill);
      EXPECT_EQ(sample(canvas.patch(), band, 0, 0), kFill);
    }
    EXPECT_TRUE(canvas.is_complete(0, 1, 3, 1));
    EXPECT_FALSE(canvas.is_complete(0, 1, 4, 1));
  }
}

TEST_F(CanvasTest, KeepsTheValidityOfBandsApartAndJoinsItAtTheEnd) {
  PixelFormat const format{.bands = 2, .valid_planes = 2};
  Canvas canvas = make(format, MosaicRule::first);
  Patch a = patch(format, 1, 5), b = patch(format, 1, 7);
  a.valid(0, 0, 0, 1)[0] = 0;
  canvas.compose(a, 0, 0, 2);
  EXPECT_EQ(canvas.patch().valid(0, 0, 2, 1)[0], 0);
  canvas.compose(b, 0, 0, 2);
  EXPECT_EQ(sample(canvas.patch(), 0, 0, 2), 7);
  EXPECT_EQ(sample(canvas.patch(), 1, 0, 2), 5);
  canvas.patch().valid(0, 0, 2, 1)[0] = 0;
  canvas.finish_row(0);
  EXPECT_EQ(canvas.patch().valid(0, 0, 2, 1)[0], 255);
  EXPECT_EQ(canvas.patch().valid(0, 0, 1, 1)[0], 0);
}

TEST_F(CanvasTest, AveragesAllButAlphaWhichIsTheLargest) {
  PixelFormat const format{.bands = 2, .alpha = 1};
  Canvas canvas = make(format, MosaicRule::mean);
  Patch a = patch(format, 2, 10), b = patch(format, 1, 20);
  set(a, 1, 0, 0, 200);
  set(b, 1, 0, 0, 100);
  canvas.compose(a, 0, 0, 0);
  canvas.compose(b, 0, 0, 0);
  canvas.finish_row(0);
  EXPECT_EQ(sample(canvas.patch(), 0, 0, 0), 15);
  EXPECT_EQ(sample(canvas.patch(), 1, 0, 0), 200);
  EXPECT_EQ(sample(canvas.patch(), 0, 0, 1), 10);
  EXPECT_EQ(sample(canvas.patch(), 0, 0, 2), kFill);
}

TEST_F(CanvasTest, CountsItsMemory) {
  EXPECT_EQ(Canvas::pixel_bytes({.dtype = DType::f32, .bands = 3}, MosaicRule::first), 13U);
  EXPECT_EQ(Canvas::pixel_bytes({.dtype = DType::f32, .bands = 3}, MosaicRule::mean), 13U + 24 + 4);
  MemoryBudget small(41 * 8 - 1);
  EXPECT_EQ(testing::kind_of_failure(
                [&] { return Canvas({.dtype = DType::f32, .bands = 3}, MosaicRule::mean, 2, 4, small); }),
            ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::ops
