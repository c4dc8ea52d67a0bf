// SPDX-License-Identifier: Apache-2.0
//
// Rows of any format, and noise to fill them: what tests of finishing and placing share.
#pragma once

#include "tile/row_format.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace terrazzo::tile::test {

[[nodiscard]] inline std::vector<std::byte> noise(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine()); }
  return bytes;
}

[[nodiscard]] inline RowFormat format_of(FinishStep step, DType dtype, std::uint32_t bits, std::uint32_t width,
                                         std::uint32_t samples, bool swapped = false) {
  RowFormat format;
  format.step = step;
  format.swapped = swapped;
  format.dtype = dtype;
  format.width_px = width;
  format.samples = samples;
  format.bits = bits;
  format.sample_bytes = static_cast<std::uint32_t>(size_bytes(dtype));
  format.decoded_row_bytes = packed_row_bytes(std::size_t{width} * samples, bits);
  format.finished_row_bytes = std::uint64_t{width} * samples * format.sample_bytes;
  return format;
}

}  // namespace terrazzo::tile::test
