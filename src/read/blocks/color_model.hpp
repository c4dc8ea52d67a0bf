// SPDX-License-Identifier: Apache-2.0
//
// Converts decoded blocks of CMYK, YCbCr and CIELab images to RGB(A), with GDAL's formulas.
#pragma once

#include "tiff/image.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::reading {

// `decoded` is a whole block, with separate planes one after the other; `out` takes block width x rows pixels of 3
// (YCbCr) or 4 bytes. The call may overwrite `decoded`.
// REQUIRES: image.is_converted_to_rgb(), and a compression that is decoded here.
[[nodiscard]] tile::TileResult convert_block_to_rgb(tiff::Image const& image, std::uint32_t rows,
                                                    std::span<std::byte> decoded, std::span<std::byte> out) noexcept;

// RGBA to RGB in place: the result fills the front of `pixels`.
void drop_alpha(std::span<std::byte> pixels) noexcept;

}  // namespace terrazzo::reading
