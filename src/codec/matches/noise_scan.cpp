// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/noise_scan.hpp"

#include "codec/matches/noise.hpp"

#include <algorithm>

namespace terrazzo::codec {

namespace {

constexpr std::size_t kStep = 16;
constexpr std::size_t kLags[] = {2, 4, 6, 8};  // even, so that low bytes are compared with low bytes

}  // namespace

NearRepeats near_repeats_scalar(std::byte const* segment) noexcept {
  NearRepeats repeats;
  for (std::size_t i = kStep; i < kNoiseSegmentBytes; ++i) {
    for (std::size_t const lag : kLags) {
      (i % 2 == 0 ? repeats.even : repeats.odd) += segment[i] == segment[i - lag] ? 1 : 0;
    }
  }
  return repeats;
}

NearRepeats near_repeats(std::byte const* segment) noexcept {
#if TERRAZZO_HAVE_X86
  static_assert(std::size(kLags) * (kNoiseSegmentBytes / kStep) < 256, "counted in bytes");
  auto const load = [&](std::size_t i) { return _mm_loadu_si128(reinterpret_cast<__m128i const*>(segment + i)); };
  __m128i const zero = _mm_setzero_si128();
  __m128i equal = zero;
  for (std::size_t i = kStep; i < kNoiseSegmentBytes; i += kStep) {
    __m128i const here = load(i);
    for (std::size_t const lag : kLags) { equal = _mm_sub_epi8(equal, _mm_cmpeq_epi8(here, load(i - lag))); }
  }
  auto const total = [&](__m128i counts) {
    __m128i const halves = _mm_sad_epu8(counts, zero);
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4));
  };
  return {total(_mm_and_si128(equal, _mm_set1_epi16(0xFF))), total(_mm_srli_epi16(equal, 8))};
#else
  return near_repeats_scalar(segment);
#endif
}

bool is_noise(std::byte const* segment) noexcept {
  // Of 1984 pairs: bytes of e bits of (collision) entropy are equal once in 2^e, which is 8 times for 8 bits.
  constexpr std::uint32_t kFew = 80;   // 4.6 bits, noise_of()'s limit
  constexpr std::uint32_t kMany = 24;  // of half the pairs: 5.4 bits, far from noise in every other byte
  NearRepeats const repeats = near_repeats(segment);
  if (repeats.even + repeats.odd < kFew) { return true; }
  if (std::min(repeats.even, repeats.odd) >= kMany) { return false; }
  return noise_of(segment) != Noise::none;
}

}  // namespace terrazzo::codec
