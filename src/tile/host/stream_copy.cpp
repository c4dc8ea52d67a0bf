// SPDX-License-Identifier: Apache-2.0
#include "tile/host/stream_copy.hpp"

#include "tile/host/cpu.hpp"
#include "tile/host/prefetch.hpp"

#include <algorithm>
#include <cstring>

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::tile {

#if TERRAZZO_HAVE_X86

namespace {

// Both copy whole lines to a line-aligned target. A line in one store needs no write-combining; the other function is
// for machines without such stores.
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

// Copies one row of blocks that are neighbours in the target. REQUIRES: rows have at least the size of a line.
inline void copy_joined_row(std::byte* to, std::byte const* from, StreamedRows const& rows,
                            CopyLines copy_lines) noexcept {
  alignas(kLineBytes) std::byte shared[kLineBytes];  // the line that the previous block has begun
  for (std::size_t block = 0; block < rows.blocks; ++block, to += rows.row_bytes, from += rows.block_stride_bytes) {
    std::size_t const head = bytes_before_line(to);
    std::size_t const lines = (rows.row_bytes - head) / kLineBytes;
    std::size_t const done = head + lines * kLineBytes;
    if (block == 0) {
      std::memcpy(to, from, head);
    } else if (head > 0) {
      std::memcpy(shared + kLineBytes - head, from, head);
      copy_lines(to + head - kLineBytes, shared, 1);
    }
    copy_lines(to + head, from + head, lines);
    std::byte* const tail = block + 1 == rows.blocks ? to + done : shared;
    std::memcpy(tail, from + done, rows.row_bytes - done);
  }
}

}  // namespace

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
  copy_row(to, from, bytes, choose_copy());
}

void copy_rows_streaming(std::byte* to, std::ptrdiff_t to_stride_bytes, StreamedRows const& from) noexcept {
  CopyLines const copy_lines = choose_copy();
  std::byte const* row = from.first;
  for (std::size_t r = 0; r < from.rows; ++r, to += to_stride_bytes, row += from.stride_bytes) {
    if (r + kPrefetchedRows < from.rows) {
      prefetch_partial_lines(to + std::ptrdiff_t{kPrefetchedRows} * to_stride_bytes, from.blocks * from.row_bytes);
    }
    if (from.blocks > 1 && from.row_bytes >= kLineBytes) {
      copy_joined_row(to, row, from, copy_lines);
      continue;
    }
    for (std::size_t block = 0; block < from.blocks; ++block) {
      copy_row(to + block * from.row_bytes, row + block * from.block_stride_bytes, from.row_bytes, copy_lines);
    }
  }
}

void prefetch_partial_lines(std::byte* to, std::size_t bytes) noexcept {
  if (bytes_before_line(to) != 0) { __builtin_prefetch(to, 1); }
  if (bytes_before_line(to + bytes) != 0) { __builtin_prefetch(to + bytes, 1); }
}

void fence_streamed_copies() noexcept { _mm_sfence(); }

#else

void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
void copy_rows_streaming(std::byte* to, std::ptrdiff_t to_stride_bytes, StreamedRows const& from) noexcept {
  std::byte const* row = from.first;
  for (std::size_t r = 0; r < from.rows; ++r, to += to_stride_bytes, row += from.stride_bytes) {
    for (std::size_t block = 0; block < from.blocks; ++block) {
      std::memcpy(to + block * from.row_bytes, row + block * from.block_stride_bytes, from.row_bytes);
    }
  }
}
void prefetch_partial_lines(std::byte*, std::size_t) noexcept {}
void fence_streamed_copies() noexcept {}

#endif

}  // namespace terrazzo::tile
