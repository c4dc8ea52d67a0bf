// SPDX-License-Identifier: Apache-2.0
//
// tile/lzw_lanes.cpp as architectures other than x86-64 compile it, beside the one of this machine.
#pragma once

#include "tile/lzw_codes.hpp"

#include <cstddef>
#include <span>

namespace terrazzo::tile {

// LzwLanes::encode() of lanes that have encoded nothing yet.
[[nodiscard]] bool encode_lanes_portably(std::span<std::byte const> in, LzwCodeWriter& out);

}  // namespace terrazzo::tile
