// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/color_model.hpp"

#include "tile/color.hpp"

#include <algorithm>
#include <array>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

TileResult unsupported(char const* reason) { return {.status = TileStatus::unsupported, .reason = reason}; }

template <std::size_t N>
std::array<std::byte const*, N> plane_rows(std::span<std::byte> decoded, std::size_t plane_bytes, std::size_t at) {
  std::array<std::byte const*, N> rows{};
  for (std::size_t plane = 0; plane < N; ++plane) { rows[plane] = decoded.data() + plane * plane_bytes + at; }
  return rows;
}

TileResult convert_cmyk(tiff::Image const& image, std::uint32_t rows, std::span<std::byte> decoded, std::byte* out) {
  std::size_t const width = image.block_width_px;
  for (std::size_t row = 0; row < rows; ++row, out += width * 4) {
    if (image.separate_planes) {
      tile::cmyk_planes_to_rgba(plane_rows<4>(decoded, width * rows, row * width), out, width);
    } else {
      tile::cmyk_row_to_rgba(decoded.data() + row * width * image.samples, out, width, image.samples);
    }
  }
  return {};
}

TileResult convert_ycbcr(tiff::Image const& image, std::uint32_t rows, std::span<std::byte> decoded, std::byte* out) {
  tile::YCbCrTags tags;
  tags.subsampling_h = image.ycbcr_subsampling[0];
  tags.subsampling_v = image.ycbcr_subsampling[1];
  std::ranges::transform(image.ycbcr_coefficients, tags.coefficients.begin(),
                         [](double v) { return static_cast<float>(v); });
  if (image.reference_black_white.size() == tags.reference_black_white.size()) {
    std::ranges::transform(image.reference_black_white, tags.reference_black_white.begin(),
                           [](double v) { return static_cast<float>(v); });
  }
  auto const convert = tile::YCbCrToRgb::make(tags);
  if (!convert) { return unsupported("these YCbCr subsampling, coefficients or reference values"); }
  std::size_t const width = image.block_width_px;
  std::size_t const h = convert->subsampling_h(), v = convert->subsampling_v();
  if (image.separate_planes) {
    if (h != 1 || v != 1) { return unsupported("subsampled YCbCr in separate planes"); }
    for (std::size_t row = 0; row < rows; ++row, out += width * 3) {
      convert->planes_to_rgb(plane_rows<3>(decoded, width * rows, row * width), out, width);
    }
    return {};
  }
  if (!image.tiled) {
    std::size_t const seen = std::min(decoded.size(), tile::ycbcr_strip_bytes_seen(width, rows, h, v));
    std::ranges::fill(decoded.subspan(seen), std::byte{});
  }
  std::size_t const unit_row_bytes = tile::ycbcr_unit_row_bytes(width, h, v);
  for (std::size_t row = 0; row < rows; ++row, out += width * 3) {
    convert->units_to_rgb(decoded.data() + row / v * unit_row_bytes, row % v, out, width);
  }
  return {};
}

TileResult convert_cielab(tiff::Image const& image, std::uint32_t rows, std::span<std::byte> decoded, std::byte* out) {
  if (image.separate_planes) { return unsupported("CIELab in separate planes"); }
  auto const convert = image.white_point.size() == 2
                           ? tile::CieLabToRgb::make(
                                 {static_cast<float>(image.white_point[0]), static_cast<float>(image.white_point[1])})
                           : tile::CieLabToRgb::make();
  if (!convert) { return unsupported("a CIELab white point that is none"); }
  std::size_t const width = image.block_width_px;
  for (std::size_t row = 0; row < rows; ++row, out += width * 4) {
    convert->row_to_rgba(decoded.data() + row * width * 3, out, width);
  }
  return {};
}

}  // namespace

TileResult convert_block_to_rgb(tiff::Image const& image, std::uint32_t rows, std::span<std::byte> decoded,
                                std::span<std::byte> out) noexcept {
  switch (image.photometric) {
    case tiff::Photometric::separated: return convert_cmyk(image, rows, decoded, out.data());
    case tiff::Photometric::ycbcr: return convert_ycbcr(image, rows, decoded, out.data());
    case tiff::Photometric::cielab: return convert_cielab(image, rows, decoded, out.data());
    default: return unsupported("this colour model");
  }
}

void drop_alpha(std::span<std::byte> pixels) noexcept {
  for (std::size_t i = 0; i < pixels.size() / 4; ++i) { std::copy_n(pixels.data() + i * 4, 3, pixels.data() + i * 3); }
}

}  // namespace terrazzo::reading
