// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers into a LERC blob, which is little-endian throughout.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace terrazzo::codec {

// Encoders take their samples in little-endian order too, so LERC's are copied unchanged.
static_assert(std::endian::native == std::endian::little);

// Returns the end.
template <class T>
[[nodiscard]] inline std::byte* put_little(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

}  // namespace terrazzo::codec
