// SPDX-License-Identifier: Apache-2.0
//
// Rows of one level of a new file, in host or in device memory.
#pragma once

#include "terrazzo/view.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace terrazzo::tile {

// Rows [first, first + pixels.height) of the level, in its full width. Mask: one uint8 band, 0 is invalid.
template <MemoryKind kind, class Void>
struct LevelRows {
  std::uint32_t first = 0;
  View<kind, Void> pixels{};
  View<kind, Void> mask{};  // data is null if there is none

  template <class Other>
    requires(std::is_same_v<Void, void> && std::is_same_v<Other, LevelRows<kind, void const>>)
  constexpr operator Other() const noexcept {
    return {first, pixels, mask};
  }
};

// Rows [begin, end) of `rows`.
template <MemoryKind kind, class Void>
[[nodiscard]] LevelRows<kind, Void> rows_between(LevelRows<kind, Void> const& rows, std::uint32_t begin,
                                                 std::uint32_t end) noexcept {
  using Byte = std::conditional_t<std::is_const_v<Void>, std::byte const, std::byte>;
  auto const cut = [&](View<kind, Void>& view) {
    view.data = static_cast<Byte*>(view.data) + std::int64_t{begin - rows.first} * view.row_stride_bytes;
    view.height = end - begin;
  };
  LevelRows<kind, Void> part = rows;
  part.first = begin;
  cut(part.pixels);
  if (rows.mask.data != nullptr) { cut(part.mask); }
  return part;
}

}  // namespace terrazzo::tile
