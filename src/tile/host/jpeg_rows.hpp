// SPDX-License-Identifier: Apache-2.0
//
// The last steps of a JPEG picture with chroma of half size both ways (4:2:0), a row at a time: libjpeg's "fancy"
// upsampling and its conversion to RGB, bit for bit. Output is planes; libjpeg would make pixels that have to be split
// again.
#pragma once

#include "base/checked.hpp"
#include "tile/host/cpu.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// The picture as stored in its stream, planes of 8-bit samples. Chroma is half as wide and high, rounded up.
struct JpegPlanes {
  std::uint32_t width_px = 0, height_px = 0;
  std::byte const* luma = nullptr;
  std::byte const* cb = nullptr;
  std::byte const* cr = nullptr;
  std::size_t luma_pitch = 0, chroma_pitch = 0;

  [[nodiscard]] std::uint32_t chroma_width() const noexcept { return ceil_div(width_px, 2U); }
  [[nodiscard]] std::uint32_t chroma_height() const noexcept { return ceil_div(height_px, 2U); }
};

struct RgbRow {
  std::byte* red;
  std::byte* green;
  std::byte* blue;
};

// The first `count` pixels of row `row`. REQUIRES: count <= width_px; chroma wider than two samples, because libjpeg
// upsamples narrower ones differently.
void make_rgb_row(JpegPlanes const& planes, std::uint32_t row, std::size_t count, RgbRow const& out) noexcept;

// True if this is faster than libjpeg plus splitting its pixels. Pictures too narrow for vectors, and processors
// without them, take up to 1.5 times as long as libjpeg.
[[nodiscard]] bool has_fast_jpeg_rows(std::uint32_t width_px) noexcept;

}  // namespace terrazzo::tile
