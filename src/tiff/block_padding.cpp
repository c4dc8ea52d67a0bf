// SPDX-License-Identifier: Apache-2.0
#include "tiff/block_padding.hpp"

#include "base/checked.hpp"

#include <algorithm>

namespace terrazzo::tiff {

std::uint32_t used_rows(Image const& image, std::uint32_t block_row) noexcept {
  return std::min(image.block_height_px, image.height_px - block_row * image.block_height_px);
}

std::uint64_t used_bytes(Image const& image, std::uint32_t block_row, std::uint32_t block_column) noexcept {
  std::uint64_t const rows = used_rows(image, block_row);
  std::uint64_t const columns = std::min(image.block_width_px, image.width_px - block_column * image.block_width_px);
  if (image.has_packed_chroma()) {
    std::uint64_t const h = image.ycbcr_subsampling[0], v = image.ycbcr_subsampling[1];
    std::uint64_t const units_above = ceil_div<std::uint64_t>(image.block_width_px, h) * (ceil_div(rows, v) - 1);
    return (units_above + ceil_div(columns, h)) * (h * v + 2);
  }
  return image.row_bytes() * (rows - 1) + (columns * image.samples_per_block() * image.bits + 7) / 8;
}

}  // namespace terrazzo::tiff
