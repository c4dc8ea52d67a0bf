// SPDX-License-Identifier: Apache-2.0
#include "tile/byte_swap.hpp"

#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86
#include <immintrin.h>
#endif

namespace terrazzo::tile {
namespace {

template <class T>
void swap_scalar(std::byte const* in, std::byte* out, std::size_t first_byte, std::size_t total_bytes) noexcept {
  for (std::size_t i = first_byte; i < total_bytes; i += sizeof(T)) {
    store_unaligned<T>(out + i, byte_swapped(load_unaligned<T>(in + i)));
  }
}

void swap_triples_scalar(std::byte const* in, std::byte* out, std::size_t first_byte,
                         std::size_t total_bytes) noexcept {
  for (std::size_t i = first_byte; i < total_bytes; i += 3) {
    std::byte const first = in[i];
    out[i + 1] = in[i + 1];
    out[i] = in[i + 2];
    out[i + 2] = first;
  }
}

#if TERRAZZO_HAVE_X86

// Returns the number of bytes done; the rest, less than a vector, is left to the scalar loop.
TERRAZZO_TARGET_AVX2 std::size_t swap_powers_avx2(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                                  std::uint32_t bytes_per_sample) noexcept {
  alignas(16) std::int8_t order[16];
  for (std::uint32_t i = 0; i < 16; ++i) { order[i] = static_cast<std::int8_t>(i ^ (bytes_per_sample - 1)); }
  __m256i const shuffle = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<__m128i const*>(order)));
  std::size_t i = 0;
  for (; i + 32 <= total_bytes; i += 32) {
    __m256i const samples = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(in + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_shuffle_epi8(samples, shuffle));
  }
  return i;
}

// Five triples at a time. The sixteenth byte is stored unchanged, so that in-place use is correct.
TERRAZZO_TARGET_AVX2 std::size_t swap_triples_avx2(std::byte const* in, std::byte* out,
                                                   std::size_t total_bytes) noexcept {
  __m128i const shuffle = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
  std::size_t i = 0;
  for (; i + 16 <= total_bytes; i += 15) {
    __m128i const samples = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_shuffle_epi8(samples, shuffle));
  }
  return i;
}

#endif

}  // namespace

void swap_samples(std::byte const* in, std::byte* out, std::size_t sample_count,
                  std::uint32_t bytes_per_sample) noexcept {
  std::size_t const total_bytes = sample_count * bytes_per_sample;
  std::size_t done = 0;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) {
    if (bytes_per_sample == 3) {
      done = swap_triples_avx2(in, out, total_bytes);
    } else if (bytes_per_sample == 2 || bytes_per_sample == 4 || bytes_per_sample == 8) {
      done = swap_powers_avx2(in, out, total_bytes, bytes_per_sample);
    }
  }
#endif
  switch (bytes_per_sample) {
    case 2: swap_scalar<std::uint16_t>(in, out, done, total_bytes); break;
    case 3: swap_triples_scalar(in, out, done, total_bytes); break;
    case 4: swap_scalar<std::uint32_t>(in, out, done, total_bytes); break;
    case 8: swap_scalar<std::uint64_t>(in, out, done, total_bytes); break;
    default:
      if (in != out && total_bytes != 0) { std::memcpy(out, in, total_bytes); }
      break;
  }
}

}  // namespace terrazzo::tile
