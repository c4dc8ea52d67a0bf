// SPDX-License-Identifier: Apache-2.0
//
// The input of one LERC blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

struct LercPicture {
  unsigned type = 0;                     // from lerc_type()
  std::uint32_t width_px = 0, height_px = 0;
  std::uint32_t depth = 1;               // samples per pixel
  std::span<std::byte const> samples{};  // little-endian, any alignment, interleaved; valid ones are not NaN
  std::span<std::byte const> valid{};  // one byte per pixel, 1 if it is valid, otherwise 0; empty: all are

  [[nodiscard]] std::size_t pixels() const noexcept { return std::size_t{width_px} * height_px; }
};

}  // namespace terrazzo::codec
