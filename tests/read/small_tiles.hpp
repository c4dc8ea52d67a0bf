// SPDX-License-Identifier: Apache-2.0
//
// 4 x 4 tiles of one band, of which a test may change the bytes of any.
#pragma once

#include "read/images.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace terrazzo::reading::test {

inline ImageSpec tiles(std::uint16_t compression = kPackBits) {
  return {.width = 64, .height = 64, .tile_width = 16, .tile_height = 16, .compression = compression};
}

inline ImageSpec with_edit(ImageSpec spec, std::function<void(std::uint64_t, std::vector<std::byte>&)> edit) {
  spec.edit = std::move(edit);
  return spec;
}

}  // namespace terrazzo::reading::test
