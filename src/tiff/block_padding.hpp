// SPDX-License-Identifier: Apache-2.0
//
// Which part of a block is inside its image. Tiles at the right and lower edge go on with padding, which no reader
// looks at; strips have none.
#pragma once

#include "tiff/image.hpp"

#include <cstdint>

namespace terrazzo::tiff {

// Of a block's rows, those inside the image.
[[nodiscard]] std::uint32_t used_rows(Image const& image, std::uint32_t block_row) noexcept;

// Bytes of a decoded block from its first to its last pixel inside the image.
[[nodiscard]] std::uint64_t used_bytes(Image const& image, std::uint32_t block_row,
                                       std::uint32_t block_column) noexcept;

}  // namespace terrazzo::tiff
