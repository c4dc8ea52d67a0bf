// SPDX-License-Identifier: Apache-2.0
#include "tile/stream_copy.hpp"

#include "tile/cpu.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if TERRAZZO_HAVE_X86
#include <emmintrin.h>
#endif

namespace terrazzo::tile {

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
#if TERRAZZO_HAVE_X86
  // Whole cache lines are streamed; a line that is not filled at once would be written twice.
  constexpr std::size_t kLine = 64;
  std::size_t const head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    auto const* source = reinterpret_cast<__m128i const*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    __m128i const a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1), c = _mm_loadu_si128(source + 2),
                  d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to + i, from + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

void fence_streamed_copies() noexcept {
#if TERRAZZO_HAVE_X86
  _mm_sfence();
#endif
}

}  // namespace terrazzo::tile
