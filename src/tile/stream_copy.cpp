// SPDX-License-Identifier: Apache-2.0
#include "tile/stream_copy.hpp"

#include "tile/cpu.hpp"

#include <algorithm>
#include <cstring>

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::tile {

#if TERRAZZO_HAVE_X86

namespace {

// Both copy whole lines to a line-aligned target. A line in one store needs no write-combining; the other is for
// machines without such stores.
using CopyLines = void (*)(std::byte*, std::byte const*, std::size_t lines) noexcept;

__attribute__((target("avx512f"))) void copy_lines_avx512(std::byte* to, std::byte const* from,
                                                          std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLineBytes, from += kLineBytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

void copy_lines_sse2(std::byte* to, std::byte const* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLineBytes, from += kLineBytes) {
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

CopyLines choose_copy() noexcept {
  static CopyLines const copy_lines = __builtin_cpu_supports("avx512f") ? copy_lines_avx512 : copy_lines_sse2;
  return copy_lines;
}

inline void copy_row(std::byte* to, std::byte const* from, std::size_t bytes, CopyLines copy_lines) noexcept {
  std::size_t const head = std::min(bytes, bytes_before_line(to));
  std::size_t const lines = (bytes - head) / kLineBytes;
  std::memcpy(to, from, head);
  copy_lines(to + head, from + head, lines);
  std::size_t const done = head + lines * kLineBytes;
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
  copy_row(to, from, bytes, choose_copy());
}

void copy_rows_streaming(std::byte* to, std::ptrdiff_t to_stride_bytes, std::byte const* from,
                         std::size_t from_stride_bytes, std::size_t row_bytes, std::size_t rows) noexcept {
  CopyLines const copy_lines = choose_copy();
  for (std::size_t r = 0; r < rows; ++r, to += to_stride_bytes, from += from_stride_bytes) {
    if (r + kPrefetchedRows < rows) {
      prefetch_partial_lines(to + std::ptrdiff_t{kPrefetchedRows} * to_stride_bytes, row_bytes);
    }
    copy_row(to, from, row_bytes, copy_lines);
  }
}

void prefetch_partial_lines(std::byte* to, std::size_t bytes) noexcept {
  if (bytes_before_line(to) != 0) { __builtin_prefetch(to, 1); }
  if (bytes_before_line(to + bytes) != 0) { __builtin_prefetch(to + bytes, 1); }
}

void fence_streamed_copies() noexcept { _mm_sfence(); }

#else

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
void copy_rows_streaming(std::byte* to, std::ptrdiff_t to_stride_bytes, std::byte const* from,
                         std::size_t from_stride_bytes, std::size_t row_bytes, std::size_t rows) noexcept {
  for (; rows > 0; --rows, to += to_stride_bytes, from += from_stride_bytes) { std::memcpy(to, from, row_bytes); }
}
void prefetch_partial_lines(std::byte*, std::size_t) noexcept {}
void fence_streamed_copies() noexcept {}

#endif

}  // namespace terrazzo::tile
