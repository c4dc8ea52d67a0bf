// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/reduction.hpp"

#include "tile/reduce/reduce_rows.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace terrazzo::tile {
namespace {

constexpr Resampling kMethods[] = {Resampling::nearest, Resampling::average,      Resampling::bilinear,
                                   Resampling::cubic,   Resampling::cubic_spline, Resampling::lanczos,
                                   Resampling::mode,    Resampling::minimum,      Resampling::maximum,
                                   Resampling::median,  Resampling::rms};

struct Shape {
  std::uint32_t source_width, source_height, width, height;
};
constexpr Shape kShapes[] = {{64, 64, 32, 32}, {65, 63, 33, 32}, {65, 63, 32, 31}, {1, 9, 1, 5},
                             {9, 1, 5, 1},     {1, 1, 1, 1},     {100, 50, 25, 13}};

TEST(Reduction, NeedsRowsThatNeverGoBackAndLieInTheSource) {
  for (Resampling const method : kMethods) {
    for (Shape const& s : kShapes) {
      Reduction const reduction({s.source_width, s.source_height, s.width, s.height, DType::u8, 1, method});
      RowRange last{};
      for (std::uint32_t row = 0; row < s.height; ++row) {
        RowRange const now = reduction.source_rows(row);
        EXPECT_LT(now.first, now.last);
        EXPECT_LE(now.last, s.source_height);
        EXPECT_GE(now.first, last.first);
        EXPECT_GE(now.last, last.last);
        last = now;
      }
    }
  }
}

TEST(Reduction, GivesTheSameRowsHoweverManyAtATime) {
  for (Resampling const method : kMethods) {
    for (Shape const& s : kShapes) {
      auto source = scrambled<float>(s.source_width, s.source_height);
      ReduceTo to{.width = s.width, .height = s.height, .method = method};
      auto const whole = reduced(source, to);
      for (std::uint32_t const rows : {1U, 3U}) {
        to.rows_at_a_time = rows;
        EXPECT_EQ(reduced(source, to).pixels, whole.pixels) << static_cast<int>(method) << ' ' << s.width;
      }
    }
  }
}

// Interleaved, padded, upside down and misaligned views of the same pixels.
TEST(Reduction, TakesViewsOfAnyStrides) {
  constexpr std::uint32_t kWidth = 11, kHeight = 6, kBands = 3;
  auto const bands = scrambled<std::uint16_t>(kWidth, kHeight * kBands);
  for (Resampling const method : kMethods) {
    ReductionSpec spec{kWidth, kHeight, 6, 3, DType::u16, kBands, method};
    Reduction const reduction(spec);
    std::vector<std::uint16_t> expected(6 * 3 * kBands);
    auto planar = bands.pixels;
    reduction.reduce({0, {planar.data(), DType::u16, kBands, kHeight, kWidth, kWidth * kHeight * 2, kWidth * 2, 2}, {}},
                     {0, {expected.data(), DType::u16, kBands, 3, 6, 6 * 3 * 2, 6 * 2, 2}, {}});

    constexpr std::size_t kRowBytes = kWidth * kBands * 2 + 5;
    std::vector<std::byte> interleaved(kRowBytes * kHeight + 1);
    for (std::uint32_t b = 0; b < kBands; ++b) {
      for (std::uint32_t y = 0; y < kHeight; ++y) {
        for (std::uint32_t x = 0; x < kWidth; ++x) {
          std::memcpy(interleaved.data() + 1 + (kHeight - 1 - y) * kRowBytes + (x * kBands + b) * 2,
                      &planar[(b * kHeight + y) * kWidth + x], 2);
        }
      }
    }
    std::vector<std::byte> out(3 * 6 * kBands * 2 + 1);
    reduction.reduce({0,
                      {interleaved.data() + 1 + (kHeight - 1) * kRowBytes, DType::u16, kBands, kHeight, kWidth, 2,
                       -static_cast<std::int64_t>(kRowBytes), kBands * 2},
                      {}},
                     {0, {out.data() + 1, DType::u16, kBands, 3, 6, 2, 6 * kBands * 2, kBands * 2}, {}});
    for (std::uint32_t b = 0; b < kBands; ++b) {
      for (std::uint32_t i = 0; i < 18; ++i) {
        std::uint16_t pixel;
        std::memcpy(&pixel, out.data() + 1 + (i * kBands + b) * 2, 2);
        EXPECT_EQ(pixel, expected[b * 18 + i]) << static_cast<int>(method) << ' ' << b << ' ' << i;
      }
    }
  }
}

TEST(Reduction, TakesZeroAlphaAsInvalidInAllBands) {
  std::vector<std::uint8_t> pixels{10, 0, 20, 255, 30, 128, 40, 0};  // grey and alpha, side by side
  std::vector<std::uint8_t> out(2);
  ReductionSpec spec{4, 1, 1, 1, DType::u8, 2, Resampling::average};
  spec.alpha_band = 1;
  Reduction(spec).reduce({0, {pixels.data(), DType::u8, 2, 1, 4, 1, 8, 2}, {}},
                         {0, {out.data(), DType::u8, 2, 1, 1, 1, 2, 2}, {}});
  EXPECT_EQ(out, (std::vector<std::uint8_t>{25, 192}));
}

TEST(Reduction, TakesZeroAlphaAsInvalidInAlphaAlone) {
  std::vector<std::int16_t> pixels{10, 0, 3, 255, 30, 3, 40, 0};  // grey and alpha, side by side
  std::vector<std::int16_t> out(2);
  ReductionSpec spec{4, 1, 1, 1, DType::i16, 2, Resampling::average};
  spec.alpha_band = 1;
  spec.alpha_masks_others = false;
  auto const reduced = [&] {
    Reduction(spec).reduce({0, {pixels.data(), DType::i16, 2, 1, 4, 2, 16, 4}, {}},
                           {0, {out.data(), DType::i16, 2, 1, 1, 2, 4, 4}, {}});
    return out;
  };
  EXPECT_EQ(reduced(), (std::vector<std::int16_t>{21, 129}));
  spec.nodata = make_nodata("3", DType::i16);  // of the grey alone
  EXPECT_EQ(reduced(), (std::vector<std::int16_t>{27, 129}));
}

// What a transparent window has become is no alpha on the next level.
TEST(Reduction, TakesNoNodataForAlpha) {
  std::vector<std::int16_t> pixels{10, -500, 10, 129, 10, -500, 10, 0};  // grey and alpha, side by side
  std::vector<std::int16_t> out(2);
  ReductionSpec spec{4, 1, 1, 1, DType::i16, 2, Resampling::average};
  spec.alpha_band = 1;
  spec.nodata = make_nodata("-500", DType::i16);
  for (Resampling const method : {Resampling::average, Resampling::rms, Resampling::maximum, Resampling::minimum,
                                  Resampling::median, Resampling::mode, Resampling::bilinear}) {
    spec.method = method;
    Reduction(spec).reduce({0, {pixels.data(), DType::i16, 2, 1, 4, 2, 16, 4}, {}},
                           {0, {out.data(), DType::i16, 2, 1, 1, 2, 4, 4}, {}});
    EXPECT_EQ(out, (std::vector<std::int16_t>{10, 129})) << to_string(method);
  }
}

// Of the methods that pick a pixel; the others do as GDAL does.
TEST(Reduction, PicksNoNodataForTransparentWindows) {
  std::vector<std::int16_t> pixels{10, 0, 10, 0, 7, 0, 10, 0};  // grey and alpha, side by side
  std::vector<std::int16_t> out(2);
  ReductionSpec spec{4, 1, 1, 1, DType::i16, 2};
  spec.alpha_band = 1;
  spec.nodata = make_nodata("7", DType::i16);
  for (Resampling const method :
       {Resampling::nearest, Resampling::maximum, Resampling::minimum, Resampling::median, Resampling::mode}) {
    spec.method = method;
    Reduction(spec).reduce({0, {pixels.data(), DType::i16, 2, 1, 4, 2, 16, 4}, {}},
                           {0, {out.data(), DType::i16, 2, 1, 1, 2, 4, 4}, {}});
    EXPECT_EQ(out[1], 0) << to_string(method);
  }
}

}  // namespace
}  // namespace terrazzo::tile
