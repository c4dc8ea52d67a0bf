// SPDX-License-Identifier: Apache-2.0
//
// Two checks for encoders that only code noise: whether a segment is noise, and at which of its positions to search for
// a repeat nevertheless. Vectors of 16 bytes, with scalar definitions that give the same results.
#pragma once

#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>

namespace terrazzo::codec {

// True if kNoiseSegmentBytes bytes are noise, in every byte or in every other one: calls noise_of() if a quick check
// does not decide.
[[nodiscard]] bool is_noise(std::byte const* segment) noexcept;

// Counts the bytes of a segment that equal one of those 2, 4, 6 and 8 before them, at even and at odd positions; from
// the 16th byte on.
struct NearRepeats {
  std::uint32_t even = 0, odd = 0;
};
[[nodiscard]] NearRepeats near_repeats(std::byte const* segment) noexcept;
[[nodiscard]] NearRepeats near_repeats_scalar(std::byte const* segment) noexcept;

inline constexpr std::size_t kProbedBytes = 16;

// Selects positions among kProbedBytes, one bit each, by their bytes, so that repeats are found at any distance: a pair
// of bytes selects its position, with a probability of 1 in 64; a pair of zeros never does. Reads one byte more.
[[nodiscard]] inline std::uint32_t probe_places_scalar(std::byte const* at) noexcept {
  std::uint32_t chosen = 0;
  for (std::size_t i = 0; i < kProbedBytes; ++i) {
    std::uint32_t const pair = std::to_integer<std::uint32_t>(at[i]) | std::to_integer<std::uint32_t>(at[i + 1]) << 8;
    chosen |= ((pair * 0x9E37U & 0xFFFFU) >> 10 == 21U ? 1U : 0U) << i;
  }
  return chosen;
}

[[nodiscard]] inline std::uint32_t probe_places(std::byte const* at) noexcept {
#if TERRAZZO_HAVE_X86
  __m128i const factor = _mm_set1_epi16(static_cast<std::int16_t>(0x9E37)), wanted = _mm_set1_epi16(21);
  auto const chosen = [&](std::byte const* from) {
    __m128i const pairs = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
    return _mm_cmpeq_epi16(_mm_srli_epi16(_mm_mullo_epi16(pairs, factor), 10), wanted);
  };
  __m128i const low_bytes = _mm_set1_epi16(0xFF);
  __m128i const places =
      _mm_or_si128(_mm_and_si128(low_bytes, chosen(at)), _mm_andnot_si128(low_bytes, chosen(at + 1)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(places));
#else
  return probe_places_scalar(at);
#endif
}

}  // namespace terrazzo::codec
