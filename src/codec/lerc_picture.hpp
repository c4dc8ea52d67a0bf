// SPDX-License-Identifier: Apache-2.0
//
// What becomes one LERC blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

struct LercPicture {
  unsigned type = 0;                     // as lerc_type() has it
  std::uint32_t width_px = 0, height_px = 0;
  std::uint32_t depth = 1;               // samples a pixel
  std::span<std::byte const> samples{};  // little-endian, of any alignment, those of a pixel together; valid ones are
                                         // not NaN
  std::span<std::byte const> valid{};  // a byte a pixel, 1 where it is valid and else 0; empty: all are

  [[nodiscard]] std::size_t pixels() const noexcept { return std::size_t{width_px} * height_px; }
};

}  // namespace terrazzo::codec
