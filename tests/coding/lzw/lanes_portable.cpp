// SPDX-License-Identifier: Apache-2.0
//
// Compiles the source a second time, without its x86 branch and under another name of the class.
#include "coding/lzw/lanes_portable.hpp"

#include <memory>

#define TERRAZZO_HAVE_X86 0
#define LzwLanes PortableLzwLanes
#include "coding/lzw/lanes.cpp"

namespace terrazzo::coding {

bool encode_lanes_portably(std::span<std::byte const> in, LzwCodeWriter& out) {
  return std::make_unique<PortableLzwLanes>()->encode(in, out);
}

}  // namespace terrazzo::coding
