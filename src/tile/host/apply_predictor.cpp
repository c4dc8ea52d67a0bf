// SPDX-License-Identifier: Apache-2.0
//
// Both predictors subtract samples that are neighbours in the input, so vectors are loaded twice, one pixel apart, and
// subtracted. For predictor 3 the bytes of the differences are then sorted into planes; only the first pixel of each
// plane has another neighbour and is handled separately.
#include "tile/apply_predictor.hpp"

#include "tile/host/byte_planes_avx2.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::tile {
namespace {

#if TERRAZZO_HAVE_X86

template <class T>
TERRAZZO_TARGET_AVX2 inline __m256i subtract(__m256i a, __m256i b) noexcept {
  if constexpr (sizeof(T) == 1) return _mm256_sub_epi8(a, b);
  if constexpr (sizeof(T) == 2) return _mm256_sub_epi16(a, b);
  if constexpr (sizeof(T) == 4) return _mm256_sub_epi32(a, b);
  if constexpr (sizeof(T) == 8) return _mm256_sub_epi64(a, b);
}

// From the end of the row downwards, so that it works in place. Returns the number of remaining bytes at the start.
template <class T>
TERRAZZO_TARGET_AVX2 std::size_t horizontal_avx2(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                                 std::size_t pixel_bytes) noexcept {
  std::size_t left = total_bytes;
  while (left >= pixel_bytes + 64) {
    left -= 64;
    __m256i const high = subtract<T>(load32(in + left + 32), load32(in + left + 32 - pixel_bytes));
    __m256i const low = subtract<T>(load32(in + left), load32(in + left - pixel_bytes));
    store32(out + left + 32, high);
    store32(out + left, low);
  }
  return left;
}

// Samples from `samples` on, 32 per step; the last step repeats some. Returns the first remaining sample, if there are
// fewer than a step.
template <int Bytes>
TERRAZZO_TARGET_AVX2 std::size_t float_avx2(std::byte const* in, std::byte* out, std::size_t sample_count,
                                            std::size_t samples) noexcept {
  constexpr std::size_t kBytes = Bytes;
  std::size_t const pixel_bytes = samples * kBytes;
  if (sample_count < samples + 32) { return samples; }
  std::size_t const last = sample_count - 32;
  for (std::size_t i = samples;; i = std::min(i + 32, last)) {
    __m256i v[kBytes];
    std::byte const* const from = in + i * kBytes;
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBytes; ++b) {
      v[b] = _mm256_sub_epi8(load32(from + 32 * b), load32(from + 32 * b - pixel_bytes));
    }
    sort_planes<Bytes>(v);
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBytes; ++b) { store32(out + (kBytes - 1 - b) * sample_count + i, v[b]); }
    if (i == last) { return sample_count; }
  }
}

#endif

template <class T>
void horizontal(std::byte const* in, std::byte* out, std::size_t sample_count, std::size_t samples) noexcept {
  std::size_t left = sample_count;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) { left = horizontal_avx2<T>(in, out, sample_count * sizeof(T), samples * sizeof(T)) / sizeof(T); }
#endif
  while (left > 0) {
    --left;
    store_unaligned<T>(out + left * sizeof(T), horizontal_difference<T>(in, left, samples));
  }
}

}  // namespace

void apply_horizontal_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                          std::uint32_t bits) noexcept {
  std::size_t const sample_count = width_px * samples;
  if (sample_count == 0) { return; }
  switch (bits) {
    case 8: horizontal<std::uint8_t>(in, out, sample_count, samples); break;
    case 16: horizontal<std::uint16_t>(in, out, sample_count, samples); break;
    case 32: horizontal<std::uint32_t>(in, out, sample_count, samples); break;
    case 64: horizontal<std::uint64_t>(in, out, sample_count, samples); break;
    default:
      if (in != out) { std::memcpy(out, in, (sample_count * bits + 7) / 8); }
      break;
  }
}

void apply_float_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                     std::uint32_t bytes_per_sample) noexcept {
  std::size_t const sample_count = width_px * samples;
  if (sample_count == 0) { return; }
  std::size_t done = samples;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) {
    switch (bytes_per_sample) {
      case 2: done = float_avx2<2>(in, out, sample_count, samples); break;
      case 4: done = float_avx2<4>(in, out, sample_count, samples); break;
      case 8: done = float_avx2<8>(in, out, sample_count, samples); break;
      default: break;
    }
  }
#endif
  for (std::uint32_t plane = 0; plane < bytes_per_sample; ++plane) {
    std::byte* const to = out + plane * sample_count;
    auto const byte = [&](std::size_t i) {
      return float_difference(in, plane, i, sample_count, samples, bytes_per_sample);
    };
    for (std::size_t i = 0; i < samples; ++i) { to[i] = byte(i); }
    for (std::size_t i = done; i < sample_count; ++i) { to[i] = byte(i); }
  }
}

}  // namespace terrazzo::tile
