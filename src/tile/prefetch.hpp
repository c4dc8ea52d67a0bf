// SPDX-License-Identifier: Apache-2.0
//
// Asks the caches for memory that is read soon. A processor sees what comes next within a row; where rows lie apart, or
// on another page, it waits at the start of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// What memory comes in.
inline constexpr std::size_t kLineBytes = 64;
// How many rows ahead of the one that is at work.
inline constexpr std::size_t kPrefetchedRows = 4;

// Calls visit(address) for every line that has some of the bytes.
template <class Visit>
inline void for_each_line(std::byte const* from, std::size_t bytes, Visit const& visit) noexcept {
  auto const begin = reinterpret_cast<std::uintptr_t>(from), end = begin + bytes;
  for (std::uintptr_t line = begin - begin % kLineBytes; line < end; line += kLineBytes) { visit(line); }
}

inline void prefetch(std::byte const* from, std::size_t bytes) noexcept {
  for_each_line(from, bytes, [](std::uintptr_t line) { __builtin_prefetch(reinterpret_cast<void const*>(line)); });
}

// Of a row that is gone over from front to back: what follows its start the processor sees coming.
inline void prefetch_start(std::byte const* row, std::size_t bytes) noexcept {
  constexpr std::size_t kStartBytes = 256;
  prefetch(row, std::min(bytes, kStartBytes));
}

}  // namespace terrazzo::tile
