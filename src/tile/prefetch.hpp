// SPDX-License-Identifier: Apache-2.0
//
// Asks the caches for memory that is needed soon. A processor sees what comes next within a row; where rows lie apart,
// or on another page, it waits at the start of each.
#pragma once

#include "tile/cpu.hpp"

#include <algorithm>
#include <cstddef>

namespace terrazzo::tile {

// What memory comes in.
inline constexpr std::size_t kLineBytes = 64;
// How many rows ahead of the one that is at work.
inline constexpr std::size_t kPrefetchedRows = 4;
// Of a row that is gone over from front to back so much is enough: what follows the processor sees coming.
inline constexpr std::size_t kPrefetchedStartBytes = 256;

// Any address will do, also one that is nobody's.
inline void prefetch_to_read(std::byte const* from, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += kLineBytes) { __builtin_prefetch(from + i); }
}
inline void prefetch_to_write(std::byte* to, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += kLineBytes) {
#if TERRAZZO_HAVE_X86
    // The compiler has it for newer machines only; older ones take it for no instruction at all.
    asm volatile("prefetchw %0" : : "m"(to[i]));
#else
    __builtin_prefetch(to + i, 1);
#endif
  }
}

inline void prefetch_start_to_read(std::byte const* row, std::size_t bytes) noexcept {
  prefetch_to_read(row, std::min(bytes, kPrefetchedStartBytes));
}
inline void prefetch_start_to_write(std::byte* row, std::size_t bytes) noexcept {
  prefetch_to_write(row, std::min(bytes, kPrefetchedStartBytes));
}

}  // namespace terrazzo::tile
