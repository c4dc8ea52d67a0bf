// SPDX-License-Identifier: Apache-2.0
//
// Sorts samples of 2, 4 or 8 bytes into one vector for each of their bytes, and joins them again: the core of predictor
// 3 in both directions. REQUIRES: has_avx2().
#pragma once

#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

#include <immintrin.h>

#include <cstddef>

namespace terrazzo::tile {

TERRAZZO_TARGET_AVX2 inline __m128i load16(std::byte const* from) noexcept {
  return _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
}

TERRAZZO_TARGET_AVX2 inline void store16(std::byte* to, __m128i value) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

TERRAZZO_TARGET_AVX2 inline __m256i load32(std::byte const* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
}

TERRAZZO_TARGET_AVX2 inline void store32(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// Joins 16 samples in each lane: planes, least significant first, become samples in order.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline void join_lanes(__m256i (&v)[Bytes]) noexcept {
  __m256i pair[Bytes];
#pragma GCC unroll 8
  for (int p = 0; p < Bytes / 2; ++p) {
    pair[2 * p] = _mm256_unpacklo_epi8(v[2 * p], v[2 * p + 1]);
    pair[2 * p + 1] = _mm256_unpackhi_epi8(v[2 * p], v[2 * p + 1]);
  }
  if constexpr (Bytes == 2) {
    v[0] = pair[0];
    v[1] = pair[1];
  } else {
    __m256i quad[Bytes];
#pragma GCC unroll 8
    for (int p = 0; p < Bytes / 4; ++p) {
#pragma GCC unroll 8
      for (int part = 0; part < 2; ++part) {
        quad[4 * p + 2 * part] = _mm256_unpacklo_epi16(pair[4 * p + part], pair[4 * p + 2 + part]);
        quad[4 * p + 2 * part + 1] = _mm256_unpackhi_epi16(pair[4 * p + part], pair[4 * p + 2 + part]);
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < 4; ++p) {
      if constexpr (Bytes == 4) {
        v[p] = quad[p];
      } else {
        v[2 * p] = _mm256_unpacklo_epi32(quad[p], quad[4 + p]);
        v[2 * p + 1] = _mm256_unpackhi_epi32(quad[p], quad[4 + p]);
      }
    }
  }
}

// Converts 32 samples to Bytes vectors of one plane each, least significant first.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline void sort_planes(__m256i (&v)[Bytes]) noexcept {
  if constexpr (Bytes == 2) {
    __m256i const split =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    __m256i const a = _mm256_shuffle_epi8(v[0], split);
    __m256i const b = _mm256_shuffle_epi8(v[1], split);
    v[0] = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xD8);
    v[1] = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xD8);
  } else if constexpr (Bytes == 4) {
    __m256i const split =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    // Lanes hold samples 0-3, 8-11, ... and 4-7, 12-15, ...: this puts them in order.
    __m256i const order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) { v[i] = _mm256_shuffle_epi8(v[i], split); }
    __m256i const low01 = _mm256_unpacklo_epi32(v[0], v[1]);
    __m256i const high01 = _mm256_unpackhi_epi32(v[0], v[1]);
    __m256i const low23 = _mm256_unpacklo_epi32(v[2], v[3]);
    __m256i const high23 = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(low01, low23), order);
    v[1] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(low01, low23), order);
    v[2] = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi64(high01, high23), order);
    v[3] = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi64(high01, high23), order);
  } else {
    static_assert(Bytes == 8);
    __m256i const split =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    // A quarter holds four pairs of samples of one lane; after the permutation the pairs of both lanes alternate.
    __m256i const weave =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    __m256i pair[8];
    __m256i quad[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) { v[i] = _mm256_shuffle_epi8(v[i], split); }
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      pair[2 * i] = _mm256_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
      pair[2 * i + 1] = _mm256_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
    }
#pragma GCC unroll 8
    for (int half = 0; half < 2; ++half) {
      quad[4 * half] = _mm256_unpacklo_epi32(pair[4 * half], pair[4 * half + 2]);
      quad[4 * half + 1] = _mm256_unpackhi_epi32(pair[4 * half], pair[4 * half + 2]);
      quad[4 * half + 2] = _mm256_unpacklo_epi32(pair[4 * half + 1], pair[4 * half + 3]);
      quad[4 * half + 3] = _mm256_unpackhi_epi32(pair[4 * half + 1], pair[4 * half + 3]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      __m256i const even = _mm256_unpacklo_epi64(quad[i], quad[4 + i]);
      __m256i const odd = _mm256_unpackhi_epi64(quad[i], quad[4 + i]);
      v[2 * i] = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(even, 0xD8), weave);
      v[2 * i + 1] = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(odd, 0xD8), weave);
    }
  }
}

}  // namespace terrazzo::tile

#endif
