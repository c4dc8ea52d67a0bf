// SPDX-License-Identifier: Apache-2.0
//
// average_of_valid_four() for float32 pixels, eight at a time: compilers do not vectorize it. Used by average.cpp
// only.
#pragma once

#include "tile/host/cpu.hpp"
#include "tile/reduce_pixel.hpp"

#if TERRAZZO_HAVE_X86

#include <immintrin.h>

#include <cstdint>
#include <limits>

namespace terrazzo::tile {

// The condition for a pixel to count.
enum class Counted { numbers, others, masked };

struct FloatFours {
  float const* above = nullptr;
  float const* below = nullptr;
  std::uint8_t const* mask_above = nullptr;  // for Counted::masked
  std::uint8_t const* mask_below = nullptr;
  float marker = 0;  // for Counted::others
  float nothing = 0;
  Avoided<float> avoided{};
  float* out = nullptr;
};

namespace avx2 {

// Even and odd columns of 16 pixels, in order.
TERRAZZO_TARGET_AVX2 inline void split_columns(float const* from, __m256& even, __m256& odd) noexcept {
  __m256 const low = _mm256_loadu_ps(from), high = _mm256_loadu_ps(from + 8);
  __m256d const evens = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88));
  __m256d const odds = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0xDD));
  even = _mm256_castpd_ps(_mm256_permute4x64_pd(evens, 0xD8));
  odd = _mm256_castpd_ps(_mm256_permute4x64_pd(odds, 0xD8));
}

TERRAZZO_TARGET_AVX2 inline void split_mask(std::uint8_t const* from, __m256& even, __m256& odd) noexcept {
  __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
  __m256i const evens = _mm256_cvtepu16_epi32(_mm_and_si128(bytes, _mm_set1_epi16(0xFF)));
  __m256i const odds = _mm256_cvtepu16_epi32(_mm_srli_epi16(bytes, 8));
  even = _mm256_castsi256_ps(_mm256_cmpgt_epi32(evens, _mm256_setzero_si256()));
  odd = _mm256_castsi256_ps(_mm256_cmpgt_epi32(odds, _mm256_setzero_si256()));
}

// All ones where is_close_to() is false.
TERRAZZO_TARGET_AVX2 inline __m256 differs(__m256 value, __m256 marker) noexcept {
  __m256 const sign = _mm256_set1_ps(-0.0F);
  __m256 const distance = _mm256_andnot_ps(sign, _mm256_sub_ps(value, marker));
  __m256 const sum = _mm256_andnot_ps(sign, _mm256_add_ps(value, marker));
  __m256 const limit =
      _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(std::numeric_limits<float>::epsilon()), sum), _mm256_set1_ps(2.0F));
  __m256 const close =
      _mm256_or_ps(_mm256_cmp_ps(value, marker, _CMP_EQ_UQ), _mm256_cmp_ps(distance, limit, _CMP_LT_OQ));
  return _mm256_xor_ps(close, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}

// (a + b) + (c + d) divided by the count, for the lower or the upper four.
template <int Half>
TERRAZZO_TARGET_AVX2 inline __m128 mean_of_half(__m256 a, __m256 b, __m256 c, __m256 d, __m256 count) noexcept {
  __m256d const above =
      _mm256_add_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(a, Half)), _mm256_cvtps_pd(_mm256_extractf128_ps(b, Half)));
  __m256d const below =
      _mm256_add_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(c, Half)), _mm256_cvtps_pd(_mm256_extractf128_ps(d, Half)));
  __m256d const total = _mm256_add_pd(_mm256_add_pd(_mm256_setzero_pd(), above), below);
  __m256d const pixels = _mm256_cvtps_pd(_mm256_extractf128_ps(count, Half));
  return _mm256_cvtpd_ps(_mm256_div_pd(total, _mm256_max_pd(pixels, _mm256_set1_pd(1.0))));
}

// Returns the number of pixels written, of `width`: the caller computes the last few.
template <Counted Kind>
TERRAZZO_TARGET_AVX2 inline std::uint32_t average_floats(FloatFours const& task, std::uint32_t width) noexcept {
  __m256 const one = _mm256_set1_ps(1.0F), marker = _mm256_set1_ps(task.marker);
  __m256 const avoid = _mm256_set1_ps(task.avoided.present ? task.avoided.value : 0.0F);
  __m256 const instead = _mm256_set1_ps(task.avoided.instead), nothing = _mm256_set1_ps(task.nothing);
  __m256 const avoiding = _mm256_castsi256_ps(_mm256_set1_epi32(task.avoided.present ? -1 : 0));
  __m256 const plain_nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
  std::uint32_t i = 0;
  for (; i + 8 <= width; i += 8) {
    __m256 a, b, c, d, va, vb, vc, vd;
    split_columns(task.above + 2 * std::size_t{i}, a, b);
    split_columns(task.below + 2 * std::size_t{i}, c, d);
    if constexpr (Kind == Counted::numbers) {
      va = _mm256_cmp_ps(a, a, _CMP_ORD_Q);
      vb = _mm256_cmp_ps(b, b, _CMP_ORD_Q);
      vc = _mm256_cmp_ps(c, c, _CMP_ORD_Q);
      vd = _mm256_cmp_ps(d, d, _CMP_ORD_Q);
    } else if constexpr (Kind == Counted::others) {
      va = differs(a, marker);
      vb = differs(b, marker);
      vc = differs(c, marker);
      vd = differs(d, marker);
    } else {
      split_mask(task.mask_above + 2 * std::size_t{i}, va, vb);
      split_mask(task.mask_below + 2 * std::size_t{i}, vc, vd);
    }
    __m256 const count = _mm256_add_ps(_mm256_add_ps(_mm256_and_ps(va, one), _mm256_and_ps(vb, one)),
                                       _mm256_add_ps(_mm256_and_ps(vc, one), _mm256_and_ps(vd, one)));
    a = _mm256_and_ps(a, va);
    b = _mm256_and_ps(b, vb);
    c = _mm256_and_ps(c, vc);
    d = _mm256_and_ps(d, vd);
    __m256 mean = _mm256_set_m128(mean_of_half<1>(a, b, c, d, count), mean_of_half<0>(a, b, c, d, count));
    mean = _mm256_blendv_ps(mean, instead, _mm256_and_ps(avoiding, _mm256_cmp_ps(mean, avoid, _CMP_EQ_OQ)));
    mean = _mm256_blendv_ps(mean, plain_nan, _mm256_cmp_ps(mean, mean, _CMP_UNORD_Q));
    mean = _mm256_blendv_ps(mean, nothing, _mm256_cmp_ps(count, _mm256_setzero_ps(), _CMP_EQ_OQ));
    _mm256_storeu_ps(task.out + i, mean);
  }
  return i;
}

}  // namespace avx2
}  // namespace terrazzo::tile

#endif
