// SPDX-License-Identifier: Apache-2.0
#include "tile/color.hpp"

#include <algorithm>
#include <cmath>

namespace terrazzo::tile {
namespace {

std::uint8_t byte_at(std::byte const* from) noexcept { return std::to_integer<std::uint8_t>(*from); }

void put_rgb(std::byte* out, Rgb rgb) noexcept {
  out[0] = std::byte{rgb.red};
  out[1] = std::byte{rgb.green};
  out[2] = std::byte{rgb.blue};
}

void put_rgba(std::byte* out, Rgb rgb) noexcept {
  put_rgb(out, rgb);
  out[3] = std::byte{255};
}

bool subsampling_known(std::uint16_t h, std::uint16_t v) noexcept {
  bool const h_known = h == 1 || h == 2 || h == 4;
  bool const v_known = v == 1 || v == 2 || v == 4;
  return h_known && v_known && (v <= h || (h == 1 && v == 2));
}

// The range in which a difference to a sample still fits in 32 bits, in libtiff and here.
bool reference_in_range(float value) noexcept { return value > -2147483519.0F && value < 2147483647.0F; }

// Not std::clamp: NaN becomes the lower bound.
float clamped_or_low(float value, float low, float high) noexcept {
  return !(value >= low) ? low : std::min(value, high);
}

// Converts to 16 fraction bits.
std::int32_t fixed_point(float value) noexcept {
  return static_cast<std::int32_t>(static_cast<double>(clamped_or_low(value, 0.0F, 2.0F)) * 65536.0 + 0.5);
}

// The position of a code between black and white, where white is `full`. The bound keeps the products below in 32 bits.
std::int32_t code_to_value(std::int32_t code, float black, float white, float full) noexcept {
  constexpr float kBound = 128.0F * 32.0F;
  std::int64_t const above_black = std::int64_t{code} - static_cast<std::int32_t>(black);
  float const range = white - black;
  float const value = static_cast<float>(above_black) * full / (std::fabs(range) > 0.0F ? range : 1.0F);
  return static_cast<std::int32_t>(std::clamp(value, -kBound, kBound));
}

constexpr std::int32_t kHalfUnit = 1 << 15;

}  // namespace

void cmyk_row_to_rgba(std::byte const* in, std::byte* out, std::size_t width_px, std::size_t samples) noexcept {
  for (std::size_t x = 0; x < width_px; ++x) {
    std::byte const* const pixel = in + x * samples;
    put_rgba(out + 4 * x, cmyk_to_rgb(byte_at(pixel), byte_at(pixel + 1), byte_at(pixel + 2), byte_at(pixel + 3)));
  }
}

void cmyk_planes_to_rgba(std::array<std::byte const*, 4> const& planes, std::byte* out, std::size_t width_px) noexcept {
  for (std::size_t x = 0; x < width_px; ++x) {
    put_rgba(out + 4 * x, cmyk_to_rgb(byte_at(planes[0] + x), byte_at(planes[1] + x), byte_at(planes[2] + x),
                                      byte_at(planes[3] + x)));
  }
}

std::optional<YCbCrToRgb> YCbCrToRgb::make(YCbCrTags const& tags) noexcept {
  auto const [red, green, blue] = tags.coefficients;
  auto const& reference = tags.reference_black_white;
  if (!subsampling_known(tags.subsampling_h, tags.subsampling_v) || std::isnan(red) || std::isnan(green) ||
      std::isnan(blue) || green == 0.0F || !std::ranges::all_of(reference, reference_in_range)) {
    return std::nullopt;
  }
  YCbCrToRgb result;
  result.subsampling_h_ = tags.subsampling_h;
  result.subsampling_v_ = tags.subsampling_v;
  // TIFF 6.0, section 21, solved for R, G and B.
  float const red_factor = 2.0F - 2.0F * red;
  float const blue_factor = 2.0F - 2.0F * blue;
  std::int32_t const cr_red = fixed_point(red_factor);
  std::int32_t const cr_green = -fixed_point(red * red_factor / green);
  std::int32_t const cb_blue = fixed_point(blue_factor);
  std::int32_t const cb_green = -fixed_point(blue * blue_factor / green);
  for (std::int32_t code = 0; code < 256; ++code) {
    std::int32_t const cr = code_to_value(code - 128, reference[4] - 128.0F, reference[5] - 128.0F, 127.0F);
    std::int32_t const cb = code_to_value(code - 128, reference[2] - 128.0F, reference[3] - 128.0F, 127.0F);
    result.luma_[code] = code_to_value(code, reference[0], reference[1], 255.0F);
    result.cr_to_red_[code] = (cr_red * cr + kHalfUnit) >> 16;
    result.cb_to_blue_[code] = (cb_blue * cb + kHalfUnit) >> 16;
    result.cr_to_green_[code] = cr_green * cr;
    result.cb_to_green_[code] = cb_green * cb + kHalfUnit;
  }
  return result;
}

void YCbCrToRgb::units_to_rgb(std::byte const* units, std::size_t row_in_units, std::byte* out,
                              std::size_t width_px) const noexcept {
  std::size_t const luma_bytes = subsampling_h_ * subsampling_v_;
  for (std::size_t left = 0; left < width_px; left += subsampling_h_) {
    std::uint8_t const cb = byte_at(units + luma_bytes);
    std::uint8_t const cr = byte_at(units + luma_bytes + 1);
    std::byte const* const luma = units + row_in_units * subsampling_h_;
    std::size_t const count = std::min(subsampling_h_, width_px - left);
    for (std::size_t x = 0; x < count; ++x) { put_rgb(out + 3 * (left + x), convert(byte_at(luma + x), cb, cr)); }
    units += luma_bytes + 2;
  }
}

void YCbCrToRgb::planes_to_rgb(std::array<std::byte const*, 3> const& planes, std::byte* out,
                               std::size_t width_px) const noexcept {
  for (std::size_t x = 0; x < width_px; ++x) {
    put_rgb(out + 3 * x, convert(byte_at(planes[0] + x), byte_at(planes[1] + x), byte_at(planes[2] + x)));
  }
}

std::optional<CieLabToRgb> CieLabToRgb::make(std::array<float, 2> white_point) noexcept {
  auto const [x, y] = white_point;
  if (!(std::fabs(y) > 0.0F)) { return std::nullopt; }
  CieLabToRgb result;
  result.white_x_ = x / y * 100.0F;
  result.white_z_ = (1.0F - x - y) / y * 100.0F;
  double const gamma = 1.0 / static_cast<double>(2.4F);
  for (std::size_t i = 0; i <= kRange; ++i) {
    result.display_[i] =
        255.0F * static_cast<float>(std::pow(static_cast<double>(i) / static_cast<double>(kRange), gamma));
  }
  return result;
}

// `light` counts from 1 for black to 100 for white.
std::uint8_t CieLabToRgb::display_value(float light) const noexcept {
  constexpr float kStep = (100.0F - 1.0F) / static_cast<float>(kRange);
  light = light > 1.0F ? light : 1.0F;  // NaN becomes 1 too
  light = light < 100.0F ? light : 100.0F;
  std::size_t const index = std::min(static_cast<std::size_t>((light - 1.0F) / kStep), kRange);
  float const value = display_[index];
  return static_cast<std::uint8_t>(std::min(static_cast<std::uint32_t>(value + 0.5F), 255U));
}

Rgb CieLabToRgb::convert(std::uint8_t l, std::int8_t a, std::int8_t b) const noexcept {
  constexpr float kWhiteY = 100.0F;
  // Through the 16-bit encoding, as in libtiff, so that floats round in the same way.
  float const lightness = static_cast<float>(l * 257U) * 100.0F / 65535.0F;
  float y = 0;
  float root = 0;
  if (lightness < 8.856F) {
    y = lightness * kWhiteY / 903.292F;
    root = 7.787F * (y / kWhiteY) + 16.0F / 116.0F;
  } else {
    root = (lightness + 16.0F) / 116.0F;
    y = kWhiteY * root * root * root;
  }
  auto const from_root = [](float white, float value) {
    return value < 0.2069F ? white * (value - 0.13793F) / 7.787F : white * value * value * value;
  };
  float const x = from_root(white_x_, static_cast<float>(a * 256) / 256.0F / 500.0F + root);
  float const z = from_root(white_z_, root - static_cast<float>(b * 256) / 256.0F / 200.0F);
  return {display_value(3.2410F * x + -1.5374F * y + -0.4986F * z),
          display_value(-0.9692F * x + 1.8760F * y + 0.0416F * z),
          display_value(0.0556F * x + -0.2040F * y + 1.0570F * z)};
}

void CieLabToRgb::row_to_rgba(std::byte const* in, std::byte* out, std::size_t width_px) const noexcept {
  for (std::size_t x = 0; x < width_px; ++x) {
    std::byte const* const pixel = in + 3 * x;
    put_rgba(out + 4 * x, convert(byte_at(pixel), static_cast<std::int8_t>(byte_at(pixel + 1)),
                                  static_cast<std::int8_t>(byte_at(pixel + 2))));
  }
}

}  // namespace terrazzo::tile
