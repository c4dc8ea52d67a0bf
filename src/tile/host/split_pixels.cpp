// SPDX-License-Identifier: Apache-2.0
#include "tile/host/split_pixels.hpp"

#include "tile/byte_swap.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace terrazzo::tile {

namespace {

template <class T>
void split_scalar(std::byte const* in, std::span<std::byte* const> planes, std::size_t first,
                  std::size_t count) noexcept {
  std::size_t const samples = planes.size();
  for (std::size_t s = 0; s < samples; ++s) {
    std::byte const* from = in + (first * samples + s) * sizeof(T);
    std::byte* to = planes[s] + first * sizeof(T);
    for (std::size_t i = first; i < count; ++i) {
      store_unaligned<T>(to, load_unaligned<T>(from));
      from += samples * sizeof(T);
      to += sizeof(T);
    }
  }
}

#if defined(__x86_64__)

// Each function handles whole groups of 16 or 8 pixels and returns the number of pixels done.

// 4 x uint16: 8 pixels are four registers; two rounds of unpacking transpose them.
__attribute__((target("sse2"))) std::size_t split_4x16(std::byte const* in, std::span<std::byte* const> planes,
                                                       std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    auto const* p = reinterpret_cast<__m128i const*>(in + i * 8);
    __m128i const a = _mm_loadu_si128(p), b = _mm_loadu_si128(p + 1), c = _mm_loadu_si128(p + 2),
                  d = _mm_loadu_si128(p + 3);
    __m128i const ab_lo = _mm_unpacklo_epi16(a, b), ab_hi = _mm_unpackhi_epi16(a, b);  // pixels 0,2 and 1,3
    __m128i const cd_lo = _mm_unpacklo_epi16(c, d), cd_hi = _mm_unpackhi_epi16(c, d);
    __m128i const r_g = _mm_unpacklo_epi16(ab_lo, ab_hi), b_a = _mm_unpackhi_epi16(ab_lo, ab_hi);
    __m128i const r_g2 = _mm_unpacklo_epi16(cd_lo, cd_hi), b_a2 = _mm_unpackhi_epi16(cd_lo, cd_hi);
    auto const store = [&](std::size_t plane, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[plane] + i * 2), v);
    };
    store(0, _mm_unpacklo_epi64(r_g, r_g2));
    store(1, _mm_unpackhi_epi64(r_g, r_g2));
    store(2, _mm_unpacklo_epi64(b_a, b_a2));
    store(3, _mm_unpackhi_epi64(b_a, b_a2));
  }
  return i;
}

// A function and not a lambda: lambdas do not inherit the target.
__attribute__((target("ssse3"))) inline __m128i gather_of_three(__m128i a, __m128i b, __m128i c, __m128i from_a,
                                                                __m128i from_b, __m128i from_c) noexcept {
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, from_a), _mm_shuffle_epi8(b, from_b)),
                      _mm_shuffle_epi8(c, from_c));
}

// 3 x uint8: 16 pixels are three registers; a byte shuffle gathers a plane's part of each.
__attribute__((target("ssse3"))) std::size_t split_3x8(std::byte const* in, std::span<std::byte* const> planes,
                                                       std::size_t count) noexcept {
  constexpr char z = static_cast<char>(0x80);
  __m128i const a0 = _mm_setr_epi8(0, 3, 6, 9, 12, 15, z, z, z, z, z, z, z, z, z, z);
  __m128i const b0 = _mm_setr_epi8(z, z, z, z, z, z, 2, 5, 8, 11, 14, z, z, z, z, z);
  __m128i const c0 = _mm_setr_epi8(z, z, z, z, z, z, z, z, z, z, z, 1, 4, 7, 10, 13);
  __m128i const a1 = _mm_setr_epi8(1, 4, 7, 10, 13, z, z, z, z, z, z, z, z, z, z, z);
  __m128i const b1 = _mm_setr_epi8(z, z, z, z, z, 0, 3, 6, 9, 12, 15, z, z, z, z, z);
  __m128i const c1 = _mm_setr_epi8(z, z, z, z, z, z, z, z, z, z, z, 2, 5, 8, 11, 14);
  __m128i const a2 = _mm_setr_epi8(2, 5, 8, 11, 14, z, z, z, z, z, z, z, z, z, z, z);
  __m128i const b2 = _mm_setr_epi8(z, z, z, z, z, 1, 4, 7, 10, 13, z, z, z, z, z, z);
  __m128i const c2 = _mm_setr_epi8(z, z, z, z, z, z, z, z, z, z, 0, 3, 6, 9, 12, 15);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    auto const* p = reinterpret_cast<__m128i const*>(in + i * 3);
    __m128i const a = _mm_loadu_si128(p), b = _mm_loadu_si128(p + 1), c = _mm_loadu_si128(p + 2);
    auto const store = [&](std::size_t plane, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[plane] + i), v);
    };
    store(0, gather_of_three(a, b, c, a0, b0, c0));
    store(1, gather_of_three(a, b, c, a1, b1, c1));
    store(2, gather_of_three(a, b, c, a2, b2, c2));
  }
  return i;
}

// 4 x uint8: 16 pixels; group each register's planes by a shuffle, then transpose 32-bit groups.
__attribute__((target("ssse3"))) std::size_t split_4x8(std::byte const* in, std::span<std::byte* const> planes,
                                                       std::size_t count) noexcept {
  __m128i const group = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    auto const* p = reinterpret_cast<__m128i const*>(in + i * 4);
    __m128i const a = _mm_shuffle_epi8(_mm_loadu_si128(p), group), b = _mm_shuffle_epi8(_mm_loadu_si128(p + 1), group),
                  c = _mm_shuffle_epi8(_mm_loadu_si128(p + 2), group),
                  d = _mm_shuffle_epi8(_mm_loadu_si128(p + 3), group);
    __m128i const ab_lo = _mm_unpacklo_epi32(a, b), ab_hi = _mm_unpackhi_epi32(a, b);
    __m128i const cd_lo = _mm_unpacklo_epi32(c, d), cd_hi = _mm_unpackhi_epi32(c, d);
    auto const store = [&](std::size_t plane, __m128i v) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[plane] + i), v);
    };
    store(0, _mm_unpacklo_epi64(ab_lo, cd_lo));
    store(1, _mm_unpackhi_epi64(ab_lo, cd_lo));
    store(2, _mm_unpacklo_epi64(ab_hi, cd_hi));
    store(3, _mm_unpackhi_epi64(ab_hi, cd_hi));
  }
  return i;
}

std::size_t split_vectors(std::byte const* in, std::span<std::byte* const> planes, std::size_t count,
                          std::size_t sample_bytes) noexcept {
  static bool const has_ssse3 = __builtin_cpu_supports("ssse3");
  if (planes.size() == 4 && sample_bytes == 2) { return split_4x16(in, planes, count); }
  if (has_ssse3 && planes.size() == 3 && sample_bytes == 1) { return split_3x8(in, planes, count); }
  if (has_ssse3 && planes.size() == 4 && sample_bytes == 1) { return split_4x8(in, planes, count); }
  return 0;
}

#else

std::size_t split_vectors(std::byte const*, std::span<std::byte* const>, std::size_t, std::size_t) noexcept {
  return 0;
}

#endif

}  // namespace

void split_pixels(std::byte const* in, std::span<std::byte* const> planes, std::size_t count,
                  std::size_t sample_bytes) noexcept {
  std::size_t const done = split_vectors(in, planes, count, sample_bytes);
  switch (sample_bytes) {
    case 1: return split_scalar<std::uint8_t>(in, planes, done, count);
    case 2: return split_scalar<std::uint16_t>(in, planes, done, count);
    case 4: return split_scalar<std::uint32_t>(in, planes, done, count);
    case 8: return split_scalar<std::uint64_t>(in, planes, done, count);
    default: return split_scalar<__uint128_t>(in, planes, done, count);
  }
}

}  // namespace terrazzo::tile
