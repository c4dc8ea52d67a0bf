// SPDX-License-Identifier: Apache-2.0
//
// Splits interleaved pixels into planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::tile {

// Splits `count` pixels of planes.size() samples, each of `sample_bytes` (1, 2, 4, 8 or 16), into contiguous planes.
// Vectorised for the common cases: 3 or 4 samples of a byte, 4 of two bytes.
void split_pixels(std::byte const* in, std::span<std::byte* const> planes, std::size_t count,
                  std::size_t sample_bytes) noexcept;

}  // namespace terrazzo::tile
