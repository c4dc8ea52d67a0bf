// SPDX-License-Identifier: Apache-2.0
//
// coding/lzw/lanes.cpp as architectures other than x86-64 compile it, beside the one of this machine.
#pragma once

#include "coding/lzw/codes.hpp"

#include <cstddef>
#include <span>

namespace terrazzo::coding {

// LzwLanes::encode() of lanes that have encoded nothing yet.
[[nodiscard]] bool encode_lanes_portably(std::span<std::byte const> in, LzwCodeWriter& out);

}  // namespace terrazzo::coding
