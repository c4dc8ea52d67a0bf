// SPDX-License-Identifier: Apache-2.0
//
// tile/host/jpeg_rows.cpp as architectures other than x86-64 compile it, beside the one of this machine.
#pragma once

#include "tile/host/jpeg_rows.hpp"

namespace terrazzo::tile {

void make_rgb_row_portably(JpegPlanes const& planes, std::uint32_t row, std::size_t count, RgbRow const& out) noexcept;
[[nodiscard]] bool has_fast_jpeg_rows_portably(std::uint32_t width_px) noexcept;

}  // namespace terrazzo::tile
