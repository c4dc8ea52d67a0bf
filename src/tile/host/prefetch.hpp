// SPDX-License-Identifier: Apache-2.0
//
// Prefetches memory that will be read soon. A processor prefetches within a row by itself; if rows lie apart, or on
// another page, it waits at the start of each row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Size of a cache line.
inline constexpr std::size_t kLineBytes = 64;
// Rows ahead of the current one.
inline constexpr std::size_t kPrefetchedRows = 4;

// Calls visit(address) for every cache line that holds some of the bytes.
template <class Visit>
inline void for_each_line(std::byte const* from, std::size_t bytes, Visit const& visit) noexcept {
  auto const begin = reinterpret_cast<std::uintptr_t>(from), end = begin + bytes;
  for (std::uintptr_t line = begin - begin % kLineBytes; line < end; line += kLineBytes) { visit(line); }
}

inline void prefetch(std::byte const* from, std::size_t bytes) noexcept {
  for_each_line(from, bytes, [](std::uintptr_t line) { __builtin_prefetch(reinterpret_cast<void const*>(line)); });
}

// For a row that is read from front to back: the processor prefetches the rest by itself.
inline void prefetch_start(std::byte const* row, std::size_t bytes) noexcept {
  constexpr std::size_t kStartBytes = 256;
  prefetch(row, std::min(bytes, kStartBytes));
}

}  // namespace terrazzo::tile
