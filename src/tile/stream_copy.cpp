// SPDX-License-Identifier: Apache-2.0
#include "tile/stream_copy.hpp"

#include "tile/cpu.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::tile {

#if TERRAZZO_HAVE_X86

namespace {

constexpr std::size_t kLine = 64;

// Both copy whole lines to a line-aligned target. A line in one store needs no write-combining; the other is for
// machines without such stores.
using CopyLines = void (*)(std::byte*, std::byte const*, std::size_t lines) noexcept;

__attribute__((target("avx512f"))) void copy_lines_avx512(std::byte* to, std::byte const* from,
                                                          std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

void copy_lines_sse2(std::byte* to, std::byte const* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    auto const* source = reinterpret_cast<__m128i const*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    __m128i const a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1), c = _mm_loadu_si128(source + 2),
                  d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
}

}  // namespace

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
  static CopyLines const copy_lines = __builtin_cpu_supports("avx512f") ? copy_lines_avx512 : copy_lines_sse2;
  // Whole lines are streamed; a line that is not filled at once would be written twice.
  std::size_t const head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::size_t const lines = (bytes - head) / kLine;
  std::memcpy(to, from, head);
  copy_lines(to + head, from + head, lines);
  std::size_t const done = head + lines * kLine;
  std::memcpy(to + done, from + done, bytes - done);
}

void fence_streamed_copies() noexcept { _mm_sfence(); }

#else

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
void fence_streamed_copies() noexcept {}

#endif

}  // namespace terrazzo::tile
