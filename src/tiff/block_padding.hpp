// SPDX-License-Identifier: Apache-2.0
//
// The part of a block inside its image. Tiles at the right and lower edge have padding, which readers
// ignore; strips have none.
#pragma once

#include "tiff/image.hpp"

#include <cstdint>

namespace terrazzo::tiff {

// Rows of a block that are inside the image.
[[nodiscard]] std::uint32_t used_rows(Image const& image, std::uint32_t block_row) noexcept;

// Bytes of a decoded block from its first to its last pixel inside the image.
[[nodiscard]] std::uint64_t used_bytes(Image const& image, std::uint32_t block_row,
                                       std::uint32_t block_column) noexcept;

}  // namespace terrazzo::tiff
