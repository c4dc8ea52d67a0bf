// SPDX-License-Identifier: Apache-2.0
//
// Vectors for 1, 2, 4 and 12 bits, which are the common ones; one unaligned 8-byte load per sample for the others.
#include "tile/bit_unpack.hpp"

#include "tile/byte_swap.hpp"
#include "tile/host/cpu.hpp"

#include <bit>

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::tile {
namespace {

template <class T>
void unpack(std::byte const* in, std::byte* out, std::size_t first, std::size_t sample_count,
            std::uint32_t bits) noexcept {
  std::size_t const in_bytes = packed_row_bytes(sample_count, bits);
  std::size_t i = first;
  if (in_bytes >= 8) {
    // The samples that start where eight bytes can still be loaded; 7 + 31 bits always fit in them.
    std::size_t const safe_bits = (in_bytes - 8) * 8 + 7;
    for (; i < sample_count && i * bits <= safe_bits; ++i) {
      std::size_t const bit = i * bits;
      std::uint64_t window = load_unaligned<std::uint64_t>(in + (bit >> 3));
      if constexpr (std::endian::native == std::endian::little) { window = byte_swapped(window); }
      store_unaligned<T>(out + i * sizeof(T), static_cast<T>((window << (bit & 7)) >> (64 - bits)));
    }
  }
  for (; i < sample_count; ++i) { store_unaligned<T>(out + i * sizeof(T), static_cast<T>(unpack_sample(in, i, bits))); }
}

void reverse_triples(std::byte* samples, std::size_t sample_count) noexcept {
  for (std::size_t i = 0; i < sample_count; ++i) {
    auto const sample = load_unaligned<std::uint32_t>(samples + 4 * i);
    store_unaligned<std::uint32_t>(samples + 4 * i, byte_swapped(sample) >> 8);
  }
}

#if TERRAZZO_HAVE_X86

TERRAZZO_TARGET_AVX2 inline void store32(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

// All of these return the number of samples done, always whole input bytes.
TERRAZZO_TARGET_AVX2 std::size_t unpack1_avx2(std::byte const* in, std::byte* out, std::size_t sample_count,
                                              std::byte set_value) noexcept {
  __m256i const spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                          2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  __m256i const bit = _mm256_set1_epi64x(0x0102040810204080);
  __m256i const value = _mm256_set1_epi8(static_cast<char>(set_value));
  std::size_t i = 0;
  for (; i + 32 <= sample_count; i += 32) {
    __m256i const packed = _mm256_set1_epi32(load_unaligned<std::int32_t>(in + i / 8));
    __m256i const own_bit = _mm256_and_si256(_mm256_shuffle_epi8(packed, spread), bit);
    store32(out + i, _mm256_and_si256(_mm256_cmpeq_epi8(own_bit, bit), value));
  }
  return i;
}

TERRAZZO_TARGET_AVX2 std::size_t unpack2_avx2(std::byte const* in, std::byte* out, std::size_t sample_count) noexcept {
  __m256i const spread = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,  //
                                          4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
  __m256i const nibble = _mm256_set1_epi8(0x0F);
  __m256i const low_half = _mm256_set1_epi32(static_cast<int>(0xFFFF0000U));  // samples 2 and 3 of a byte
  __m256i const odd = _mm256_set1_epi16(static_cast<short>(0xFF00U));
  __m256i const two_bits = _mm256_set1_epi8(0x03);
  std::size_t i = 0;
  for (; i + 32 <= sample_count; i += 32) {
    __m256i const packed = _mm256_shuffle_epi8(_mm256_set1_epi64x(load_unaligned<std::int64_t>(in + i / 4)), spread);
    __m256i const high = _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble);
    __m256i const pair = _mm256_blendv_epi8(high, _mm256_and_si256(packed, nibble), low_half);
    __m256i const first = _mm256_srli_epi16(pair, 2);
    store32(out + i, _mm256_and_si256(_mm256_blendv_epi8(first, pair, odd), two_bits));
  }
  return i;
}

TERRAZZO_TARGET_AVX2 std::size_t unpack4_avx2(std::byte const* in, std::byte* out, std::size_t sample_count) noexcept {
  __m256i const nibble = _mm256_set1_epi8(0x0F);
  std::size_t i = 0;
  for (; i + 32 <= sample_count; i += 32) {
    __m256i const wide = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i / 2)));
    __m256i const both = _mm256_or_si256(_mm256_srli_epi16(wide, 4), _mm256_slli_epi16(wide, 8));
    store32(out + i, _mm256_and_si256(both, nibble));
  }
  return i;
}

TERRAZZO_TARGET_AVX2 std::size_t unpack12_avx2(std::byte const* in, std::byte* out, std::size_t sample_count) noexcept {
  __m256i const words = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  __m256i const low_bits = _mm256_set1_epi16(0x0FFF);
  std::size_t const in_bytes = packed_row_bytes(sample_count, 12);
  std::size_t i = 0;
  for (std::size_t byte = 0; byte + 28 <= in_bytes; byte += 24, i += 16) {
    __m256i const packed =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(in + byte))),
                                _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + byte + 12)), 1);
    __m256i const pairs = _mm256_shuffle_epi8(packed, words);
    __m256i const even = _mm256_srli_epi16(pairs, 4);
    __m256i const odd = _mm256_and_si256(pairs, low_bits);
    store32(out + 2 * i, _mm256_blend_epi16(even, odd, 0xAA));
  }
  return i;
}

#endif

}  // namespace

void unpack_bits_row(std::byte const* in, std::byte* out, std::size_t sample_count, std::uint32_t bits,
                     bool swapped) noexcept {
  std::size_t done = 0;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) {
    switch (bits) {
      case 1: done = unpack1_avx2(in, out, sample_count, std::byte{1}); break;
      case 2: done = unpack2_avx2(in, out, sample_count); break;
      case 4: done = unpack4_avx2(in, out, sample_count); break;
      case 12: done = unpack12_avx2(in, out, sample_count); break;
      default: break;
    }
  }
#endif
  switch (unpacked_sample_bytes(bits)) {
    case 1: unpack<std::uint8_t>(in, out, done, sample_count, bits); break;
    case 2: unpack<std::uint16_t>(in, out, done, sample_count, bits); break;
    default:
      unpack<std::uint32_t>(in, out, done, sample_count, bits);
      if (bits == 24 && swapped) { reverse_triples(out, sample_count); }
      break;
  }
}

void unpack_mask_row(std::byte const* in, std::byte* out, std::size_t sample_count, std::byte set_value) noexcept {
  std::size_t done = 0;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) { done = unpack1_avx2(in, out, sample_count, set_value); }
#endif
  for (std::size_t i = done; i < sample_count; ++i) {
    out[i] = unpack_sample(in, i, 1) != 0 ? set_value : std::byte{0};
  }
}

}  // namespace terrazzo::tile
