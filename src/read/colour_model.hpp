// SPDX-License-Identifier: Apache-2.0
//
// Decoded blocks of CMYK, YCbCr and CIELab images as RGB(A), the way GDAL shows them.
#pragma once

#include "tiff/image.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::reading {

// `decoded` is a whole block, planes one after the other when they are separate; `out` takes block width x rows pixels
// of 3 (YCbCr) or 4 bytes. `decoded` may be changed.
// REQUIRES: image.is_converted_to_rgb(), and a compression that is decoded here.
[[nodiscard]] tile::TileResult convert_block_to_rgb(tiff::Image const& image, std::uint32_t rows,
                                                    std::span<std::byte> decoded, std::span<std::byte> out) noexcept;

// RGBA to RGB in place: the result fills the front of `pixels`.
void drop_alpha(std::span<std::byte> pixels) noexcept;

}  // namespace terrazzo::reading
