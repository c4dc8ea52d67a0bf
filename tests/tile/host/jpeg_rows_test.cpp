// SPDX-License-Identifier: Apache-2.0
//
// That the rows are libjpeg's is tested where libjpeg is, in tests/codec/jpeg/; here, both definitions beside
// each other and beside the formula, from memory and into memory of exactly the size.
#include "tile/host/jpeg_rows.hpp"

#include "tile/host/jpeg_rows_portable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;

struct Picture {
  Picture(std::uint32_t width, std::uint32_t height, std::uint32_t seed) {
    planes = {.width_px = width, .height_px = height};
    planes.luma_pitch = width;
    planes.chroma_pitch = planes.chroma_width();
    std::mt19937 generator(seed);
    auto const fill = [&generator](std::unique_ptr<std::byte[]>& memory, std::size_t size) {
      memory = std::make_unique<std::byte[]>(size);
      std::generate_n(memory.get(), size, [&] { return static_cast<std::byte>(generator() & 0xFF); });
      return memory.get();
    };
    planes.luma = fill(luma, std::size_t{width} * height);
    planes.cb = fill(cb, planes.chroma_pitch * planes.chroma_height());
    planes.cr = fill(cr, planes.chroma_pitch * planes.chroma_height());
  }
  std::unique_ptr<std::byte[]> luma, cb, cr;
  JpegPlanes planes;
};

template <class Make>
Bytes made(Make&& make, JpegPlanes const& planes, std::uint32_t row, std::size_t count) {
  std::unique_ptr<std::byte[]> parts[3];
  for (auto& part : parts) { part = std::make_unique<std::byte[]>(count); }
  make(planes, row, count, RgbRow{parts[0].get(), parts[1].get(), parts[2].get()});
  Bytes bytes;
  for (auto const& part : parts) { bytes.insert(bytes.end(), part.get(), part.get() + count); }
  return bytes;
}

TEST(JpegRows, AreTheSameWithAndWithoutVectors) {
  EXPECT_FALSE(has_fast_jpeg_rows_portably(512));
  EXPECT_FALSE(has_fast_jpeg_rows(35)) << "too narrow for vectors";
  for (std::uint32_t width = 5; width < 140; ++width) {
    Picture const picture(width, 6, width);
    for (std::uint32_t row = 0; row < 6; ++row) {
      for (std::size_t const count : {std::size_t{width}, std::size_t{width} / 2, std::size_t{width} - 1}) {
        ASSERT_EQ(made(make_rgb_row, picture.planes, row, count),
                  made(make_rgb_row_portably, picture.planes, row, count))
            << count << " of " << width << " pixels, row " << row;
      }
    }
  }
}

// Even chroma stays what it is, so every colour there is can be asked for.
TEST(JpegRows, ConvertEveryColour) {
  constexpr std::uint32_t kWidth = 256;
  Bytes luma(kWidth * 2), cb(kWidth / 2), cr(kWidth / 2);
  for (std::size_t x = 0; x < luma.size(); ++x) { luma[x] = static_cast<std::byte>(x % kWidth); }
  JpegPlanes const planes{kWidth, 2, luma.data(), cb.data(), cr.data(), kWidth, kWidth / 2};
  auto const fixed = [](double factor) { return static_cast<int>(std::floor(factor * 65536 + 0.5)); };
  int const red_cr = fixed(1.402), green_cb = fixed(0.34414), green_cr = fixed(0.71414), blue_cb = fixed(1.772);
  for (int b = 0; b < 256; ++b) {
    for (int r = 0; r < 256; ++r) {
      std::ranges::fill(cb, static_cast<std::byte>(b));
      std::ranges::fill(cr, static_cast<std::byte>(r));
      Bytes wanted;
      for (int const added :
           {(red_cr * (r - 128) + 32768) >> 16, (-green_cb * (b - 128) - green_cr * (r - 128) + 32768) >> 16,
            (blue_cb * (b - 128) + 32768) >> 16}) {
        for (int y = 0; y < 256; ++y) { wanted.push_back(static_cast<std::byte>(std::clamp(y + added, 0, 255))); }
      }
      ASSERT_EQ(made(make_rgb_row, planes, 0, kWidth), wanted) << "Cb " << b << ", Cr " << r;
    }
  }
}

TEST(JpegRows, TakeThreePartsOfTheNearChromaAndOneOfTheFar) {
  // One chroma sample that differs, below the middle of the picture.
  constexpr std::uint32_t kWidth = 80, kHeight = 8;
  Bytes const luma(kWidth * kHeight, std::byte{100}), cb(kWidth / 2 * kHeight / 2, std::byte{128});
  Bytes cr = cb;
  cr[2 * (kWidth / 2) + 20] = std::byte{128 + 16};
  JpegPlanes const planes{kWidth, kHeight, luma.data(), cb.data(), cr.data(), kWidth, kWidth / 2};
  int const weights[] = {1, 3, 3, 1};  // of 4, both ways
  for (std::uint32_t row = 0; row < kHeight; ++row) {
    Bytes const rgb = made(make_rgb_row, planes, row, kWidth);
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      bool const touched = row >= 3 && row <= 6 && x >= 39 && x <= 42;
      int const chroma = touched ? weights[row - 3] * weights[x - 39] : 0;
      int const red = 100 + static_cast<int>(std::lround(1.402 * chroma));
      ASSERT_EQ(std::to_integer<int>(rgb[x]), red) << row << " " << x;
    }
  }
}

}  // namespace
}  // namespace terrazzo::tile
