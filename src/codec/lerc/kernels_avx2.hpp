// SPDX-License-Identifier: Apache-2.0
//
// The loops of kernels.hpp with AVX2, for callers that have checked has_avx2(). The loops for 32-bit samples and
// stuffing use intrinsics; the compiler vectorizes the others.
#pragma once

#include "codec/lerc/kernels.hpp"
#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

#include <immintrin.h>

#include <bit>
#include <concepts>
#include <cstdint>

namespace terrazzo::codec {

// Eight samples of 32 bits, of any type.
namespace lerc_avx2 {

template <class Work>
TERRAZZO_TARGET_AVX2 inline __m256i least(__m256i a, __m256i b) noexcept {
  if constexpr (std::same_as<Work, float>) {
    return _mm256_castps_si256(_mm256_min_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
  } else if constexpr (std::same_as<Work, std::uint32_t>) {
    return _mm256_min_epu32(a, b);
  } else {
    return _mm256_min_epi32(a, b);
  }
}

template <class Work>
TERRAZZO_TARGET_AVX2 inline __m256i greatest(__m256i a, __m256i b) noexcept {
  if constexpr (std::same_as<Work, float>) {
    return _mm256_castps_si256(_mm256_max_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
  } else if constexpr (std::same_as<Work, std::uint32_t>) {
    return _mm256_max_epu32(a, b);
  } else {
    return _mm256_max_epi32(a, b);
  }
}

template <class Work>
TERRAZZO_TARGET_AVX2 inline __m256i equal(__m256i a, __m256i b) noexcept {
  if constexpr (std::same_as<Work, float>) {
    return _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_EQ_OQ));
  } else {
    return _mm256_cmpeq_epi32(a, b);
  }
}

// Combines all eight with `Join`; the result is in the first.
template <class Work, __m256i (*Join)(__m256i, __m256i) noexcept>
TERRAZZO_TARGET_AVX2 inline Work joined(__m256i v) noexcept {
  v = Join(v, _mm256_permute2x128_si256(v, v, 1));
  v = Join(v, _mm256_shuffle_epi32(v, 0x4E));
  v = Join(v, _mm256_shuffle_epi32(v, 0xB1));
  return std::bit_cast<Work>(_mm_cvtsi128_si32(_mm256_castsi256_si128(v)));
}

TERRAZZO_TARGET_AVX2 inline __m256i sum(__m256i a, __m256i b) noexcept { return _mm256_add_epi32(a, b); }

template <class Work>
TERRAZZO_TARGET_AVX2 inline __m256i load(Work const* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
}

}  // namespace lerc_avx2

struct LercAvx2Kernels {
  template <class Work>
  [[nodiscard]] TERRAZZO_TARGET_AVX2 static LercExtent<Work> measure(LercBlock<Work> const& block) noexcept {
    if constexpr (sizeof(Work) != 4) {
      return LercPortableKernels::measure(block);
    } else {
      using namespace lerc_avx2;
      Work const* const samples = block.samples();
      Work const* const before = samples - 1;
      __m256i low = _mm256_set1_epi32(std::bit_cast<std::int32_t>(samples[0])), high = low;
      __m256i repeats = _mm256_setzero_si256();
      std::size_t i = 0;
      for (; i + kLercLanes <= block.count; i += kLercLanes) {
        __m256i const value = load(samples + i);
        low = least<Work>(low, value);
        high = greatest<Work>(high, value);
        repeats = _mm256_sub_epi32(repeats, equal<Work>(value, load(before + i)));
      }
      LercExtent<Work> extent{joined<Work, &least<Work>>(low), joined<Work, &greatest<Work>>(high),
                              joined<std::uint32_t, &sum>(repeats)};
      for (; i < block.count; ++i) { LercPortableKernels::add_sample(extent, samples[i], before[i]); }
      return extent;
    }
  }

  template <class Work>
  TERRAZZO_TARGET_AVX2 static void count_units(LercBlock<Work> const& block, Work low, LercSteps& steps) noexcept {
    LercPortableKernels::count_units(block, low, steps);
  }

  template <class Work>
  TERRAZZO_TARGET_AVX2 static void quantise(LercBlock<Work> const& block, Work low, double steps_per_unit,
                                            LercSteps& steps) noexcept {
    if constexpr (!std::same_as<Work, float>) {
      LercPortableKernels::quantise(block, low, steps_per_unit, steps);
    } else {
      __m256d const base = _mm256_set1_pd(static_cast<double>(low));
      __m256d const scale = _mm256_set1_pd(steps_per_unit);
      // Whole groups: results after the last sample are zeroed below.
      for (std::size_t i = 0; i < block.count; i += kLercLanes) {
        __m256 const value = _mm256_load_ps(block.samples() + i);
        __m128i const first = rounded(_mm256_castps256_ps128(value), base, scale);
        __m128i const second = rounded(_mm256_extractf128_ps(value, 1), base, scale);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(steps.data() + i), _mm256_set_m128i(second, first));
      }
      LercPortableKernels::pad(block.count, steps);
    }
  }

  // Eight values of `bits` bits take `bits` bytes, so every group begins at a byte.
  [[nodiscard]] TERRAZZO_TARGET_AVX2 static std::byte* stuff(std::uint32_t const* steps, std::size_t count,
                                                             unsigned bits, std::byte* to) noexcept {
    if (bits > 16) { return LercPortableKernels::stuff(steps, count, bits, to); }
    std::byte* const end = to + (count * bits + 7) / 8;
    __m256i const low_half = _mm256_set1_epi64x(0xFFFFFFFF);
    __m128i const once = _mm_cvtsi32_si128(static_cast<int>(bits));
    __m128i const twice = _mm_cvtsi32_si128(static_cast<int>(2 * bits));
    __m128i const four_times = _mm_cvtsi32_si128(static_cast<int>(4 * bits));
    __m128i const rest = _mm_cvtsi32_si128(static_cast<int>(64 - 4 * bits));
    for (std::size_t i = 0; i < count; i += kLercLanes, to += bits) {
      __m256i const value = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(steps + i));
      __m256i const pairs =
          _mm256_or_si256(_mm256_and_si256(value, low_half), _mm256_sll_epi64(_mm256_srli_epi64(value, 32), once));
      __m256i const fours = _mm256_or_si256(pairs, _mm256_sll_epi64(_mm256_srli_si256(pairs, 8), twice));
      __m128i const first = _mm256_castsi256_si128(fours), second = _mm256_extracti128_si256(fours, 1);
      __m128i const low = _mm_or_si128(first, _mm_sll_epi64(second, four_times));
      __m128i const high = _mm_srl_epi64(second, rest);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi64(low, high));
    }
    return end;
  }

 private:
  TERRAZZO_TARGET_AVX2 static __m128i rounded(__m128 values, __m256d base, __m256d scale) noexcept {
    __m256d const above = _mm256_sub_pd(_mm256_cvtps_pd(values), base);
    return _mm256_cvttpd_epi32(_mm256_add_pd(_mm256_mul_pd(above, scale), _mm256_set1_pd(0.5)));
  }
};

}  // namespace terrazzo::codec

#endif
