// SPDX-License-Identifier: Apache-2.0
//
// Predictor 2 on the host. A row is a running sum with the stride of one pixel. Three vector forms, by pixel size:
//   1, 2, 4, 8 bytes   32 bytes per step: log-step sums inside the lanes, then lane to lane
//   up to 64 bytes     whole pixels per step (for example five of 3 bytes in 16), the last pixel carried in registers
//   more               plain vector adds of the row to itself one pixel earlier
// In each form the carry costs one add on the critical path: it is the previous carry plus the step's total, which does
// not depend on the step's own result.
#include "tile/undo_predictor.hpp"

#include "tile/host/byte_planes_avx2.hpp"

namespace terrazzo::tile {
namespace {

#if TERRAZZO_HAVE_X86

inline constexpr std::size_t kLane = 16;

template <class T>
TERRAZZO_TARGET_AVX2 inline __m256i add(__m256i a, __m256i b) noexcept {
  if constexpr (sizeof(T) == 1) return _mm256_add_epi8(a, b);
  if constexpr (sizeof(T) == 2) return _mm256_add_epi16(a, b);
  if constexpr (sizeof(T) == 4) return _mm256_add_epi32(a, b);
  if constexpr (sizeof(T) == 8) return _mm256_add_epi64(a, b);
}

template <class T>
TERRAZZO_TARGET_AVX2 inline __m128i add(__m128i a, __m128i b) noexcept {
  if constexpr (sizeof(T) == 1) return _mm_add_epi8(a, b);
  if constexpr (sizeof(T) == 2) return _mm_add_epi16(a, b);
  if constexpr (sizeof(T) == 4) return _mm_add_epi32(a, b);
  if constexpr (sizeof(T) == 8) return _mm_add_epi64(a, b);
}

// A shuffle that reverses the bytes of every T.
template <class T>
TERRAZZO_TARGET_AVX2 inline __m128i swap_shuffle() noexcept {
  alignas(16) std::uint8_t order[kLane];
  for (std::size_t i = 0; i < kLane; ++i) { order[i] = static_cast<std::uint8_t>(i ^ (sizeof(T) - 1)); }
  return _mm_load_si128(reinterpret_cast<__m128i const*>(order));
}

// Moves every byte up by `distance` and inserts zeros.
TERRAZZO_TARGET_AVX2 inline __m128i shift_shuffle(std::size_t distance) noexcept {
  alignas(16) std::uint8_t order[kLane];
  for (std::size_t i = 0; i < kLane; ++i) { order[i] = i < distance ? 0x80 : static_cast<std::uint8_t>(i - distance); }
  return _mm_load_si128(reinterpret_cast<__m128i const*>(order));
}

// Repeats the `pixel_bytes` bytes at `offset` over the vector.
TERRAZZO_TARGET_AVX2 inline __m128i repeat_shuffle(std::size_t offset, std::size_t pixel_bytes) noexcept {
  alignas(16) std::uint8_t order[kLane];
  for (std::size_t i = 0; i < kLane; ++i) { order[i] = static_cast<std::uint8_t>(offset + i % pixel_bytes); }
  return _mm_load_si128(reinterpret_cast<__m128i const*>(order));
}

// Pixels of PixelBytes = 1, 2, 4 or 8. Returns the number of bytes done.
template <class T, bool Swapped, int PixelBytes>
TERRAZZO_TARGET_AVX2 std::size_t undo_power_pixels(std::byte const* in, std::byte* out,
                                                   std::size_t total_bytes) noexcept {
  __m256i const swap = _mm256_broadcastsi128_si256(swap_shuffle<T>());
  __m256i const last_pixel = _mm256_broadcastsi128_si256(repeat_shuffle(kLane - PixelBytes, PixelBytes));
  __m256i carry = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 32 <= total_bytes; i += 32) {
    __m256i sum = load32(in + i);
    if constexpr (Swapped) sum = _mm256_shuffle_epi8(sum, swap);
    if constexpr (PixelBytes <= 1) sum = add<T>(sum, _mm256_slli_si256(sum, 1));
    if constexpr (PixelBytes <= 2) sum = add<T>(sum, _mm256_slli_si256(sum, 2));
    if constexpr (PixelBytes <= 4) sum = add<T>(sum, _mm256_slli_si256(sum, 4));
    sum = add<T>(sum, _mm256_slli_si256(sum, 8));
    // Adds the low lane's total to the high lane (0x08: zeros below, low lane above), then broadcasts the step's total.
    __m256i const low_total = _mm256_shuffle_epi8(_mm256_permute2x128_si256(sum, sum, 0x08), last_pixel);
    sum = add<T>(sum, low_total);
    __m256i const total = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(sum, 0xFF), last_pixel);
    store32(out + i, add<T>(sum, carry));
    carry = add<T>(carry, total);
  }
  return i;
}

// Pixels up to 16 bytes: as many whole pixels as 16 bytes hold; Steps = log2 of that, rounded up. Stores overwrite up
// to 7 bytes of the next step, whose input is therefore loaded before. Returns the number of bytes done.
template <class T, bool Swapped, int Steps>
TERRAZZO_TARGET_AVX2 std::size_t undo_small_pixels(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                                   std::size_t pixel_bytes) noexcept {
  std::size_t const step = kLane / pixel_bytes * pixel_bytes;
  if (total_bytes < kLane) { return 0; }
  __m128i const swap = swap_shuffle<T>();
  __m128i const shift1 = shift_shuffle(pixel_bytes);
  __m128i const shift2 = shift_shuffle(2 * pixel_bytes);
  __m128i const shift4 = shift_shuffle(4 * pixel_bytes);
  __m128i const last_pixel = repeat_shuffle(step - pixel_bytes, pixel_bytes);
  __m128i carry = _mm_setzero_si128();
  __m128i next = load16(in);
  std::size_t i = 0;
  for (;;) {
    __m128i sum = next;
    bool const more = i + step + kLane <= total_bytes;
    if (more) { next = load16(in + i + step); }
    if constexpr (Swapped) sum = _mm_shuffle_epi8(sum, swap);
    if constexpr (Steps >= 1) sum = add<T>(sum, _mm_shuffle_epi8(sum, shift1));
    if constexpr (Steps >= 2) sum = add<T>(sum, _mm_shuffle_epi8(sum, shift2));
    if constexpr (Steps >= 3) sum = add<T>(sum, _mm_shuffle_epi8(sum, shift4));
    __m128i const total = _mm_shuffle_epi8(sum, last_pixel);
    sum = add<T>(sum, carry);
    carry = add<T>(carry, total);
    if (!more) {
      alignas(16) std::byte exact[kLane];
      store16(exact, sum);
      std::memcpy(out + i, exact, step);
      return i + step;
    }
    store16(out + i, sum);
    i += step;
  }
}

// Pixels of more than 16 * (Vectors - 1) and up to 16 * Vectors bytes, one per step; surplus bytes as above.
template <class T, bool Swapped, int Vectors>
TERRAZZO_TARGET_AVX2 std::size_t undo_medium_pixels(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                                    std::size_t pixel_bytes) noexcept {
  constexpr std::size_t kStep = kLane * Vectors;
  if (total_bytes < kStep) { return 0; }
  __m128i const swap = swap_shuffle<T>();
  __m128i sum[Vectors];
  __m128i next[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    sum[v] = _mm_setzero_si128();
    next[v] = load16(in + static_cast<std::size_t>(v) * kLane);
  }
  std::size_t i = 0;
  for (;;) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      if constexpr (Swapped) next[v] = _mm_shuffle_epi8(next[v], swap);
      sum[v] = add<T>(sum[v], next[v]);
    }
    if (i + pixel_bytes + kStep > total_bytes) {
      alignas(16) std::byte exact[kStep];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) { store16(exact + static_cast<std::size_t>(v) * kLane, sum[v]); }
      std::memcpy(out + i, exact, pixel_bytes);
      return i + pixel_bytes;
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) { next[v] = load16(in + i + pixel_bytes + static_cast<std::size_t>(v) * kLane); }
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) { store16(out + i + static_cast<std::size_t>(v) * kLane, sum[v]); }
    i += pixel_bytes;
  }
}

// Pixels of more than 64 bytes. REQUIRES: the first pixel is already in `out`.
template <class T, bool Swapped>
TERRAZZO_TARGET_AVX2 std::size_t undo_large_pixels(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                                   std::size_t pixel_bytes) noexcept {
  __m256i const swap = _mm256_broadcastsi128_si256(swap_shuffle<T>());
  std::size_t i = pixel_bytes;
  for (; i + 32 <= total_bytes; i += 32) {
    __m256i difference = load32(in + i);
    if constexpr (Swapped) difference = _mm256_shuffle_epi8(difference, swap);
    __m256i const previous = load32(out + i - pixel_bytes);
    store32(out + i, add<T>(difference, previous));
  }
  return i;
}

template <class T, bool Swapped>
TERRAZZO_TARGET_AVX2 std::size_t undo_avx2(std::byte const* in, std::byte* out, std::size_t total_bytes,
                                           std::size_t pixel_bytes) noexcept {
  switch (pixel_bytes) {
    case 1:
      if constexpr (sizeof(T) == 1) return undo_power_pixels<T, Swapped, 1>(in, out, total_bytes);
      break;
    case 2:
      if constexpr (sizeof(T) <= 2) return undo_power_pixels<T, Swapped, 2>(in, out, total_bytes);
      break;
    case 4:
      if constexpr (sizeof(T) <= 4) return undo_power_pixels<T, Swapped, 4>(in, out, total_bytes);
      break;
    case 8: return undo_power_pixels<T, Swapped, 8>(in, out, total_bytes);
    default: break;
  }
  if (pixel_bytes == 3) return undo_small_pixels<T, Swapped, 3>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes == 5) return undo_small_pixels<T, Swapped, 2>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes <= 8) return undo_small_pixels<T, Swapped, 1>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes <= 16) return undo_medium_pixels<T, Swapped, 1>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes <= 32) return undo_medium_pixels<T, Swapped, 2>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes <= 48) return undo_medium_pixels<T, Swapped, 3>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes <= 64) return undo_medium_pixels<T, Swapped, 4>(in, out, total_bytes, pixel_bytes);
  if (pixel_bytes >= total_bytes) return 0;
  undo_horizontal_scalar<T, Swapped>(in, out, 0, pixel_bytes / sizeof(T), pixel_bytes / sizeof(T));
  return undo_large_pixels<T, Swapped>(in, out, total_bytes, pixel_bytes);
}

#endif

template <class T, bool Swapped>
void undo(std::byte const* in, std::byte* out, std::size_t sample_count, std::size_t samples) noexcept {
  std::size_t done_bytes = 0;
#if TERRAZZO_HAVE_X86
  if (has_avx2()) { done_bytes = undo_avx2<T, Swapped>(in, out, sample_count * sizeof(T), samples * sizeof(T)); }
#endif
  undo_horizontal_scalar<T, Swapped>(in, out, done_bytes / sizeof(T), sample_count, samples);
}

template <bool Swapped>
void undo_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
              std::uint32_t bits) noexcept {
  std::size_t const sample_count = width_px * samples;
  if (sample_count == 0) { return; }
  switch (bits) {
    case 8: undo<std::uint8_t, false>(in, out, sample_count, samples); break;
    case 16: undo<std::uint16_t, Swapped>(in, out, sample_count, samples); break;
    case 32: undo<std::uint32_t, Swapped>(in, out, sample_count, samples); break;
    case 64: undo<std::uint64_t, Swapped>(in, out, sample_count, samples); break;
    default:
      if (in != out) { std::memcpy(out, in, (sample_count * bits + 7) / 8); }
      break;
  }
}

}  // namespace

void undo_horizontal_row(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                         std::uint32_t bits) noexcept {
  undo_row<false>(in, out, width_px, samples, bits);
}

void undo_horizontal_row_swapped(std::byte const* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                                 std::uint32_t bits) noexcept {
  undo_row<true>(in, out, width_px, samples, bits);
}

}  // namespace terrazzo::tile
