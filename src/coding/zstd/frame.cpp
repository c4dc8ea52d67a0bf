// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/frame.hpp"

namespace terrazzo::coding {

bool zstd_frame_is_plausible(std::span<std::byte const> tile, std::uint64_t expected_bytes) noexcept {
  return is_plausible_zstd_frame(tile.data(), tile.size(), expected_bytes);
}

}  // namespace terrazzo::coding
