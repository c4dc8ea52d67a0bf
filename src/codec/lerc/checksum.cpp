// SPDX-License-Identifier: Apache-2.0
//
// The sums are folded to 16 bits and a carry after every 359 words, and the fold is not a full reduction: a blob is
// readable only if our sum is folded at the same words. Within such a stretch the order of additions is irrelevant, so
// vectors add there.
#include "codec/lerc/checksum.hpp"

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

#include <algorithm>

namespace terrazzo::codec {
namespace {

constexpr std::size_t kWordsToFold = 359;

constexpr std::uint32_t folded(std::uint32_t sum) noexcept { return (sum & 0xFFFF) + (sum >> 16); }

// `first` is the sum of the words, `second` the sum of all values of `first`.
struct Sums {
  std::uint32_t first = 0xFFFF, second = 0xFFFF;

  void add_word(std::byte high, std::byte low) noexcept {
    first += std::to_integer<std::uint32_t>(high) << 8 | std::to_integer<std::uint32_t>(low);
    second += first;
  }
  void fold() noexcept {
    first = folded(first);
    second = folded(second);
  }
};

void add_words(Sums& sums, std::span<std::byte const> words) noexcept {
  for (std::size_t i = 0; i < words.size(); i += 2) { sums.add_word(words[i], words[i + 1]); }
}

#if TERRAZZO_HAVE_X86

TERRAZZO_TARGET_AVX2 inline std::uint32_t sum_of_lanes(__m256i v) noexcept {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum));
}

// The i-th word of sixteen enters `second` 16 - i times, and the previous `first` enters 16 times. The sums of a
// stretch, and so those of its parts, are below 2^32.
TERRAZZO_TARGET_AVX2 inline void add_words_avx2(Sums& sums, std::span<std::byte const> words) noexcept {
  constexpr std::size_t kStep = 32;
  __m256i const weights = _mm256_setr_epi16(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
  __m256i const ones = _mm256_set1_epi16(1);
  __m256i const low_bytes = _mm256_set1_epi16(0xFF);
  __m256i plain = _mm256_setzero_si256(), before = plain, weighted = plain;
  std::size_t const end = words.size() / kStep * kStep;
  for (std::size_t i = 0; i < end; i += kStep) {
    __m256i const v = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(words.data() + i));
    __m256i const high = _mm256_and_si256(v, low_bytes), low = _mm256_srli_epi16(v, 8);
    before = _mm256_add_epi32(before, plain);
    plain = _mm256_add_epi32(
        plain, _mm256_add_epi32(_mm256_slli_epi32(_mm256_madd_epi16(high, ones), 8), _mm256_madd_epi16(low, ones)));
    weighted = _mm256_add_epi32(weighted, _mm256_add_epi32(_mm256_slli_epi32(_mm256_madd_epi16(high, weights), 8),
                                                           _mm256_madd_epi16(low, weights)));
  }
  sums.second += static_cast<std::uint32_t>(end / 2) * sums.first + 16 * sum_of_lanes(before) + sum_of_lanes(weighted);
  sums.first += sum_of_lanes(plain);
  add_words(sums, words.subspan(end));
}

#endif

template <auto AddWords>
[[gnu::always_inline]] inline std::uint32_t checksum(std::span<std::byte const> bytes) noexcept {
  Sums sums;
  std::size_t const whole = bytes.size() & ~std::size_t{1};
  for (std::size_t at = 0; at < whole; at += 2 * kWordsToFold) {
    AddWords(sums, bytes.subspan(at, std::min(2 * kWordsToFold, whole - at)));
    sums.fold();
  }
  if (whole != bytes.size()) { sums.add_word(bytes.back(), std::byte{0}); }
  sums.fold();
  return sums.second << 16 | sums.first;
}

}  // namespace

std::uint32_t lerc_checksum_portable(std::span<std::byte const> bytes) noexcept { return checksum<&add_words>(bytes); }

#if TERRAZZO_HAVE_X86
std::uint32_t lerc_checksum_avx2(std::span<std::byte const> bytes) noexcept { return checksum<&add_words_avx2>(bytes); }
#endif

std::uint32_t lerc_checksum(std::span<std::byte const> bytes) noexcept {
#if TERRAZZO_HAVE_X86
  if (tile::has_avx2()) { return lerc_checksum_avx2(bytes); }
#endif
  return lerc_checksum_portable(bytes);
}

}  // namespace terrazzo::codec
