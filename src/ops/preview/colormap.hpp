// SPDX-License-Identifier: Apache-2.0
//
// Named colour ramps.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace terrazzo::ops {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(Rgb const&, Rgb const&) = default;
};

// 256 colours, from the lowest value to the highest.
using Colormap = std::array<Rgb, 256>;

// A name of colormap_names(), or one with "_r" at the end for the reversed colours; a `usage` error that lists the
// names for any other.
[[nodiscard]] Colormap make_colormap(std::string_view name);

}  // namespace terrazzo::ops
