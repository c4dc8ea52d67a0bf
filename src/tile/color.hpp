// SPDX-License-Identifier: Apache-2.0
//
// Converts CMYK, YCbCr and CIE L*a*b* of 8 bits to RGB, for images that GDAL shows through libtiff's RGBA interface.
// The arithmetic is libtiff's, table by table and rounding by rounding, so that pixels are equal; it is meant for the
// screen and ignores ICC profiles. JPEG's decoder converts its own YCbCr.
//
// Works on rows; tables are immutable. Callers check sizes.
#pragma once

#include "base/host_device.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace terrazzo::tile {

struct Rgb {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
};

// ---- CMYK

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr Rgb cmyk_to_rgb(std::uint32_t cyan, std::uint32_t magenta,
                                                             std::uint32_t yellow, std::uint32_t black) noexcept {
  std::uint32_t const light = 255 - black;
  return {static_cast<std::uint8_t>(light * (255 - cyan) / 255),
          static_cast<std::uint8_t>(light * (255 - magenta) / 255),
          static_cast<std::uint8_t>(light * (255 - yellow) / 255)};
}

// Pixels of `samples` bytes (4 or more: extra samples are skipped) to RGBA with alpha 255. `out` may equal `in` if
// `samples` is 4.
void cmyk_row_to_rgba(std::byte const* in, std::byte* out, std::size_t width_px, std::size_t samples) noexcept;

// Converts separate planes.
void cmyk_planes_to_rgba(std::array<std::byte const*, 4> const& planes, std::byte* out, std::size_t width_px) noexcept;

// ---- YCbCr

// TIFF tags 530, 529 and 532, with the defaults for files without them.
struct YCbCrTags {
  std::uint16_t subsampling_h = 2;
  std::uint16_t subsampling_v = 2;
  std::array<float, 3> coefficients{0.299F, 0.587F, 0.114F};
  std::array<float, 6> reference_black_white{0.0F, 255.0F, 128.0F, 255.0F, 128.0F, 255.0F};
};

// Subsampled samples come in data units: h * v luma samples, row by row, then one Cb and one Cr. Units run over the
// width rounded up to h, and a row of units over v rows of pixels.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::size_t ycbcr_unit_bytes(std::size_t h, std::size_t v) noexcept {
  return h * v + 2;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::size_t ycbcr_unit_row_bytes(std::size_t width_px, std::size_t h,
                                                                              std::size_t v) noexcept {
  return (width_px + h - 1) / h * ycbcr_unit_bytes(h, v);
}

// The size of a whole strip or tile.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::size_t ycbcr_block_bytes(std::size_t width_px, std::size_t rows,
                                                                           std::size_t h, std::size_t v) noexcept {
  return ycbcr_unit_row_bytes(width_px, h, v) * ((rows + v - 1) / v);
}

// The part of a strip that libtiff's RGBA interface reads: it counts v rows of 1/v of a row of units each, rounded
// down, and takes missing bytes at the end as zeros. To equal GDAL, zero the strip from here on before converting;
// the last pixels of a 4x4 subsampled strip can depend on it. Tiles are read completely.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::size_t ycbcr_strip_bytes_seen(std::size_t width_px, std::size_t rows,
                                                                                std::size_t h, std::size_t v) noexcept {
  return (rows + v - 1) / v * v * (ycbcr_unit_row_bytes(width_px, h, v) / v);
}

class YCbCrToRgb {
 public:
  // Empty if libtiff refuses too: a subsampling other than 4x4, 4x2, 4x1, 2x2, 2x1, 1x2 and 1x1, coefficients that
  // are not numbers or have no green, reference values out of range.
  [[nodiscard]] static std::optional<YCbCrToRgb> make(YCbCrTags const& tags) noexcept;

  [[nodiscard]] TERRAZZO_HOST_DEVICE Rgb convert(std::uint8_t y, std::uint8_t cb, std::uint8_t cr) const noexcept {
    std::int32_t const luma = luma_[y];
    return {clamped(luma + cr_to_red_[cr]), clamped(luma + ((cb_to_green_[cb] + cr_to_green_[cr]) >> 16)),
            clamped(luma + cb_to_blue_[cb])};
  }

  // Row `row_in_units` (below subsampling_v) of a row of data units, to RGB.
  void units_to_rgb(std::byte const* units, std::size_t row_in_units, std::byte* out,
                    std::size_t width_px) const noexcept;

  // A row of separate planes. libtiff supports these only without subsampling.
  void planes_to_rgb(std::array<std::byte const*, 3> const& planes, std::byte* out,
                     std::size_t width_px) const noexcept;

  [[nodiscard]] std::size_t subsampling_h() const noexcept { return subsampling_h_; }
  [[nodiscard]] std::size_t subsampling_v() const noexcept { return subsampling_v_; }

 private:
  YCbCrToRgb() = default;

  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::uint8_t clamped(std::int32_t value) noexcept {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }

  std::size_t subsampling_h_ = 1;
  std::size_t subsampling_v_ = 1;
  std::int32_t luma_[256];
  std::int32_t cr_to_red_[256];
  std::int32_t cb_to_blue_[256];
  std::int32_t cr_to_green_[256];  // 16 fraction bits, as the next
  std::int32_t cb_to_green_[256];  // includes the rounding term
};

// ---- CIE L*a*b* 1976

class CieLabToRgb {
 public:
  // libtiff's default WhitePoint (tag 318): D50.
  static constexpr std::array<float, 2> kDefaultWhitePoint{96.4250F / (96.4250F + 100.0F + 82.4680F),
                                                           100.0F / (96.4250F + 100.0F + 82.4680F)};

  // Empty for a white point whose y is 0 or not a number.
  [[nodiscard]] static std::optional<CieLabToRgb> make(std::array<float, 2> white_point = kDefaultWhitePoint) noexcept;

  // l is unsigned, a and b are signed, as TIFF stores them.
  [[nodiscard]] Rgb convert(std::uint8_t l, std::int8_t a, std::int8_t b) const noexcept;

  // Interleaved L, a, b to RGBA with alpha 255.
  void row_to_rgba(std::byte const* in, std::byte* out, std::size_t width_px) const noexcept;

 private:
  static constexpr std::size_t kRange = 1500;  // steps of the table from light to sRGB
  CieLabToRgb() = default;
  [[nodiscard]] std::uint8_t display_value(float light) const noexcept;

  float white_x_ = 0;
  float white_z_ = 0;
  float display_[kRange + 1];
};

}  // namespace terrazzo::tile
