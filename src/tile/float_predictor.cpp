// SPDX-License-Identifier: Apache-2.0
//
// Predictor 3 on the host. A row is one running sum of bytes over all its planes, then the planes are joined.
//
// Rows of one sample a pixel and 2, 4 or 8 bytes are done in one pass. Joined first, the sums of a pixel's bytes run
// side by side in one word, so that summing takes fewer shifted adds (two for 16 bytes of float32, where bytes in a
// plane take four). Where a plane's sum starts is the total of the planes before it, which VPSADBW finds at one
// instruction for 32 bytes. With totals so cheap each plane is cut in two halves that run in the two lanes of a
// register, and no sum crosses lanes. Other shapes are summed in place and joined after.
#include "tile/predictor.hpp"

#include "tile/byte_planes_avx2.hpp"

namespace terrazzo::tile {
namespace {

#if TERRAZZO_HAVE_X86

// The low byte of the sum of `count` bytes; count is a multiple of 16.
TERRAZZO_TARGET_AVX2 inline std::uint32_t byte_total(std::byte const* bytes, std::size_t count) noexcept {
  __m256i const zero = _mm256_setzero_si256();
  __m256i total = zero;
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) { total = _mm256_add_epi64(total, _mm256_sad_epu8(load32(bytes + i), zero)); }
  __m128i folded = _mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
  if (i < count) { folded = _mm_add_epi64(folded, _mm_sad_epu8(load16(bytes + i), _mm_setzero_si128())); }
  folded = _mm_add_epi64(folded, _mm_unpackhi_epi64(folded, folded));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(folded)) & 0xFFU;
}

TERRAZZO_TARGET_AVX2 inline std::uint32_t byte_total_tail(std::byte const* bytes, std::size_t count) noexcept {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) { total += std::to_integer<std::uint32_t>(bytes[i]); }
  return total & 0xFFU;
}

// Running sums, byte by byte, over the samples of Bytes bytes in each lane.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i sum_samples(__m256i samples) noexcept {
  if constexpr (Bytes <= 2) samples = _mm256_add_epi8(samples, _mm256_slli_si256(samples, 2));
  if constexpr (Bytes <= 4) samples = _mm256_add_epi8(samples, _mm256_slli_si256(samples, 4));
  return _mm256_add_epi8(samples, _mm256_slli_si256(samples, 8));
}

// The last sample of each lane, all over it.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i last_sample(__m256i samples) noexcept {
  if constexpr (Bytes == 8) return _mm256_shuffle_epi32(samples, 0xEE);
  if constexpr (Bytes == 4) return _mm256_shuffle_epi32(samples, 0xFF);
  if constexpr (Bytes == 2) return _mm256_shuffle_epi8(samples, _mm256_set1_epi16(0x0F0E));
}

TERRAZZO_TARGET_AVX2 inline __m256i load_halves(std::byte const* low, std::byte const* high) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(low)), load16(high), 1);
}

TERRAZZO_TARGET_AVX2 inline void store_halves(std::byte* low, std::byte* high, __m256i value) noexcept {
  store16(low, _mm256_castsi256_si128(value));
  store16(high, _mm256_extracti128_si256(value, 1));
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i repeat_word(std::uint64_t word) noexcept {
  if constexpr (Bytes == 8) return _mm256_set1_epi64x(static_cast<long long>(word));
  if constexpr (Bytes == 4) return _mm256_set1_epi32(static_cast<int>(word));
  if constexpr (Bytes == 2) return _mm256_set1_epi16(static_cast<short>(word));
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 void undo_one_pass_avx2(std::byte const* in, std::byte* out, std::size_t width) noexcept {
  constexpr std::size_t kBytes = Bytes;
  std::size_t const half = width / 32 * 16;
  std::byte const* planes[kBytes];  // least significant first, as in the output
  // Byte b of these words is where the sum of planes[b] stands.
  std::uint64_t low_start = 0;
  std::uint64_t high_start = 0;
  std::uint64_t tail_start = 0;
  std::uint64_t running = 0;
  for (std::size_t b = kBytes; b-- > 0;) {
    planes[b] = in + (kBytes - 1 - b) * width;
    low_start |= running << (8 * b);
    running = (running + byte_total(planes[b], half)) & 0xFFU;
    high_start |= running << (8 * b);
    running = (running + byte_total(planes[b] + half, half)) & 0xFFU;
    tail_start |= running << (8 * b);
    running = (running + byte_total_tail(planes[b] + 2 * half, width - 2 * half)) & 0xFFU;
  }

  __m256i carry = _mm256_blend_epi32(repeat_word<Bytes>(low_start), repeat_word<Bytes>(high_start), 0xF0);
  for (std::size_t i = 0; i < half; i += 16) {
    __m256i v[kBytes];
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBytes; ++b) { v[b] = load_halves(planes[b] + i, planes[b] + half + i); }
    join_lanes<Bytes>(v);
    std::byte* const to = out + kBytes * i;
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBytes; ++b) {
      __m256i const sums = sum_samples<Bytes>(v[b]);
      store_halves(to + 16 * b, to + kBytes * half + 16 * b, _mm256_add_epi8(sums, carry));
      carry = _mm256_add_epi8(carry, last_sample<Bytes>(sums));
    }
  }

  for (std::size_t b = 0; b < kBytes; ++b) {
    std::uint64_t sum = tail_start >> (8 * b);
    for (std::size_t i = 2 * half; i < width; ++i) {
      sum += std::to_integer<std::uint64_t>(planes[b][i]);
      out[kBytes * i + b] = static_cast<std::byte>(sum & 0xFFU);
    }
  }
}

// Joins planes of already summed bytes, 16 samples a step. Returns the samples done.
TERRAZZO_TARGET_AVX2 std::size_t join2_avx2(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m128i const high = load16(in + i);
    __m128i const low = load16(in + count + i);
    store16(out + 2 * i, _mm_unpacklo_epi8(low, high));
    store16(out + 2 * i + 16, _mm_unpackhi_epi8(low, high));
  }
  return i;
}

TERRAZZO_TARGET_AVX2 std::size_t join4_avx2(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m128i const p0 = load16(in + i);
    __m128i const p1 = load16(in + count + i);
    __m128i const p2 = load16(in + 2 * count + i);
    __m128i const p3 = load16(in + 3 * count + i);
    __m128i const low_a = _mm_unpacklo_epi8(p3, p2);
    __m128i const low_b = _mm_unpackhi_epi8(p3, p2);
    __m128i const high_a = _mm_unpacklo_epi8(p1, p0);
    __m128i const high_b = _mm_unpackhi_epi8(p1, p0);
    store16(out + 4 * i, _mm_unpacklo_epi16(low_a, high_a));
    store16(out + 4 * i + 16, _mm_unpackhi_epi16(low_a, high_a));
    store16(out + 4 * i + 32, _mm_unpacklo_epi16(low_b, high_b));
    store16(out + 4 * i + 48, _mm_unpackhi_epi16(low_b, high_b));
  }
  return i;
}

TERRAZZO_TARGET_AVX2 std::size_t join8_avx2(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m128i plane[8];
#pragma GCC unroll 8
    for (std::size_t p = 0; p < 8; ++p) { plane[p] = load16(in + (7 - p) * count + i); }
#pragma GCC unroll 8
    for (std::size_t part = 0; part < 2; ++part) {
      __m128i pair[4];
#pragma GCC unroll 8
      for (std::size_t p = 0; p < 4; ++p) {
        pair[p] = part == 0 ? _mm_unpacklo_epi8(plane[2 * p], plane[2 * p + 1])
                            : _mm_unpackhi_epi8(plane[2 * p], plane[2 * p + 1]);
      }
      __m128i const quad0 = _mm_unpacklo_epi16(pair[0], pair[1]);
      __m128i const quad1 = _mm_unpackhi_epi16(pair[0], pair[1]);
      __m128i const quad2 = _mm_unpacklo_epi16(pair[2], pair[3]);
      __m128i const quad3 = _mm_unpackhi_epi16(pair[2], pair[3]);
      std::byte* const to = out + 8 * i + 64 * part;
      store16(to, _mm_unpacklo_epi32(quad0, quad2));
      store16(to + 16, _mm_unpackhi_epi32(quad0, quad2));
      store16(to + 32, _mm_unpacklo_epi32(quad1, quad3));
      store16(to + 48, _mm_unpackhi_epi32(quad1, quad3));
    }
  }
  return i;
}

// Three bytes a sample: joined as four with a zero, then squeezed; each store spills four bytes into the next.
TERRAZZO_TARGET_AVX2 std::size_t join3_avx2(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  __m128i const squeeze = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  __m128i const zero = _mm_setzero_si128();
  std::size_t i = 0;
  for (; i + 18 <= count; i += 16) {  // 18: the last spill, 4 bytes, stays inside the output
    __m128i const p0 = load16(in + i);
    __m128i const p1 = load16(in + count + i);
    __m128i const p2 = load16(in + 2 * count + i);
    __m128i const low_a = _mm_unpacklo_epi8(p2, p1);
    __m128i const low_b = _mm_unpackhi_epi8(p2, p1);
    __m128i const high_a = _mm_unpacklo_epi8(p0, zero);
    __m128i const high_b = _mm_unpackhi_epi8(p0, zero);
    store16(out + 3 * i, _mm_shuffle_epi8(_mm_unpacklo_epi16(low_a, high_a), squeeze));
    store16(out + 3 * i + 12, _mm_shuffle_epi8(_mm_unpackhi_epi16(low_a, high_a), squeeze));
    store16(out + 3 * i + 24, _mm_shuffle_epi8(_mm_unpacklo_epi16(low_b, high_b), squeeze));
    store16(out + 3 * i + 36, _mm_shuffle_epi8(_mm_unpackhi_epi16(low_b, high_b), squeeze));
  }
  return i;
}

std::size_t join_avx2(std::byte const* in, std::byte* out, std::size_t count, std::uint32_t bytes_per_sample) noexcept {
  switch (bytes_per_sample) {
    case 2: return join2_avx2(in, out, count);
    case 3: return join3_avx2(in, out, count);
    case 4: return join4_avx2(in, out, count);
    case 8: return join8_avx2(in, out, count);
    default: return 0;
  }
}

#endif

}  // namespace

void undo_float_row(std::byte* in, std::byte* out, std::size_t width_px, std::uint32_t samples,
                    std::uint32_t bytes_per_sample) noexcept {
#if TERRAZZO_HAVE_X86
  bool const vectors = has_avx2();
  if (vectors && samples == 1) {
    switch (bytes_per_sample) {
      case 2: return undo_one_pass_avx2<2>(in, out, width_px);
      case 4: return undo_one_pass_avx2<4>(in, out, width_px);
      case 8: return undo_one_pass_avx2<8>(in, out, width_px);
      default: break;
    }
  }
#endif
  std::size_t const sample_count = width_px * samples;
  undo_horizontal_row(in, width_px * bytes_per_sample, samples, 8);
  std::size_t done = 0;
#if TERRAZZO_HAVE_X86
  if (vectors) { done = join_avx2(in, out, sample_count, bytes_per_sample); }
#endif
  join_byte_planes_scalar(in, out, done, sample_count, bytes_per_sample);
}

}  // namespace terrazzo::tile
