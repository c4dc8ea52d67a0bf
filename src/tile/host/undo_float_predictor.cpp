// SPDX-License-Identifier: Apache-2.0
//
// Predictor 3 on the host. A row is one running sum of bytes over all its planes, then the planes are joined.
//
// Rows of one sample per pixel and 2, 4 or 8 bytes are joined first: the sums of a pixel's bytes then run side by side
// in one word, and summing takes fewer shifted adds (two for 16 bytes of float32, where bytes in a plane take four).
// Every plane's sum starts at zero instead of the total of the previous planes. That total, one word for the whole row,
// is known when the row has been summed, and is added in a second pass. With streaming the second pass is free: it is
// the copy to the result. Other shapes are summed in place and joined afterwards.
#include "tile/undo_predictor.hpp"

#include "tile/host/byte_planes_avx2.hpp"
#include "tile/host/prefetch.hpp"
#include "tile/host/stream_copy.hpp"

#include <algorithm>
#include <cstdint>

namespace terrazzo::tile {
namespace {

#if TERRAZZO_HAVE_X86

// Running sums, byte by byte, over the samples of Bytes bytes in each lane.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i sum_samples(__m256i samples) noexcept {
  if constexpr (Bytes <= 2) samples = _mm256_add_epi8(samples, _mm256_slli_si256(samples, 2));
  if constexpr (Bytes <= 4) samples = _mm256_add_epi8(samples, _mm256_slli_si256(samples, 4));
  return _mm256_add_epi8(samples, _mm256_slli_si256(samples, 8));
}

// Repeats the last sample of each lane over the lane.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i last_sample(__m256i samples) noexcept {
  if constexpr (Bytes == 8) return _mm256_shuffle_epi32(samples, 0xEE);
  if constexpr (Bytes == 4) return _mm256_shuffle_epi32(samples, 0xFF);
  if constexpr (Bytes == 2) return _mm256_shuffle_epi8(samples, _mm256_set1_epi16(0x0F0E));
}

// Sums and joins 32 samples, the next of each plane; `totals` has the totals of the planes so far in every word.
template <int Bytes>
TERRAZZO_TARGET_AVX2 inline void sum_32(std::byte const* const (&planes)[Bytes], std::size_t at, std::byte* out,
                                        __m256i& totals) noexcept {
  __m256i v[Bytes];
#pragma GCC unroll 8
  for (int b = 0; b < Bytes; ++b) { v[b] = load32(planes[b] + at); }
  join_lanes<Bytes>(v);
  __m256i in_lane = _mm256_setzero_si256();  // totals of this lane's 16 samples so far
#pragma GCC unroll 8
  for (int b = 0; b < Bytes; ++b) {
    __m256i const sums = sum_samples<Bytes>(v[b]);
    v[b] = _mm256_add_epi8(sums, in_lane);
    in_lane = _mm256_add_epi8(in_lane, last_sample<Bytes>(sums));
  }
  __m256i const before = _mm256_add_epi8(totals, _mm256_permute2x128_si256(in_lane, in_lane, 0x08));
  totals = _mm256_add_epi8(_mm256_add_epi8(totals, in_lane), _mm256_permute2x128_si256(in_lane, in_lane, 0x01));
#pragma GCC unroll 8
  for (int b = 0; b < Bytes; b += 2) {
    __m256i const even = _mm256_add_epi8(v[b], before);
    __m256i const odd = _mm256_add_epi8(v[b + 1], before);
    store32(out + 16 * b, _mm256_permute2x128_si256(even, odd, 0x20));
    store32(out + 16 * (Bytes + b), _mm256_permute2x128_si256(even, odd, 0x31));
  }
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 inline __m256i shift_right(__m256i words, int bits) noexcept {
  if constexpr (Bytes == 8) return _mm256_srli_epi64(words, bits);
  if constexpr (Bytes == 4) return _mm256_srli_epi32(words, bits);
  if constexpr (Bytes == 2) return _mm256_srli_epi16(words, bits);
}

// A row whose planes are summed, each from zero on.
template <int Bytes>
class RowSums {
 public:
  TERRAZZO_TARGET_AVX2 RowSums(std::byte const* in, std::byte* out, std::size_t width) noexcept
      : out_(out), width_(width), totals_(_mm256_setzero_si256()) {
    for (std::size_t b = 0; b < Bytes; ++b) { planes_[b] = in + (Bytes - 1 - b) * width; }
  }

  [[nodiscard]] TERRAZZO_TARGET_AVX2 bool has_32() const noexcept { return at_ + 32 <= width_; }
  TERRAZZO_TARGET_AVX2 void sum_next_32() noexcept {
    sum_32<Bytes>(planes_, at_, out_ + Bytes * at_, totals_);
    at_ += 32;
  }

  // Sums the rest. Returns the word to add to every word of the row.
  [[nodiscard]] TERRAZZO_TARGET_AVX2 __m256i finish() noexcept {
    while (has_32()) { sum_next_32(); }
    if (at_ < width_) { sum_tail(); }
    // Byte b needs the totals of the more significant bytes.
    __m256i starts = shift_right<Bytes>(totals_, 8);
    if constexpr (Bytes > 2) starts = _mm256_add_epi8(starts, shift_right<Bytes>(starts, 8));
    if constexpr (Bytes > 2) starts = _mm256_add_epi8(starts, shift_right<Bytes>(starts, 16));
    if constexpr (Bytes > 4) starts = _mm256_add_epi8(starts, shift_right<Bytes>(starts, 32));
    return starts;
  }

 private:
  TERRAZZO_TARGET_AVX2 void sum_tail() noexcept {
    alignas(32) std::byte totals[32];
    store32(totals, totals_);
    for (std::size_t b = 0; b < Bytes; ++b) {
      auto sum = std::to_integer<std::uint32_t>(totals[b]);
      for (std::size_t i = at_; i < width_; ++i) {
        sum += std::to_integer<std::uint32_t>(planes_[b][i]);
        out_[Bytes * i + b] = static_cast<std::byte>(sum & 0xFFU);
      }
      for (std::size_t i = b; i < 32; i += Bytes) { totals[i] = static_cast<std::byte>(sum & 0xFFU); }
    }
    totals_ = load32(totals);
  }

  std::byte const* planes_[Bytes];  // least significant first, as in the output
  std::byte* out_;
  std::size_t width_;
  std::size_t at_ = 0;
  __m256i totals_;
};

// to[i] = from[i] + starts, byte by byte; `from` begins with a word. `to` may equal `from`.
TERRAZZO_TARGET_AVX2 inline void add_starts(std::byte* to, std::byte const* from, std::size_t bytes,
                                            __m256i starts) noexcept {
  std::size_t i = 0;
  for (; i + 32 <= bytes; i += 32) { store32(to + i, _mm256_add_epi8(load32(from + i), starts)); }
  if (i + 16 <= bytes) {
    store16(to + i, _mm_add_epi8(load16(from + i), _mm256_castsi256_si128(starts)));
    i += 16;
  }
  if (i == bytes) { return; }
  alignas(32) std::byte one[32];
  store32(one, starts);
  for (; i < bytes; ++i) {
    to[i] =
        static_cast<std::byte>(std::to_integer<std::uint32_t>(from[i]) + std::to_integer<std::uint32_t>(one[i % 16]));
  }
}

template <int Bytes>
TERRAZZO_TARGET_AVX2 void undo_one_row_avx2(std::byte const* in, std::byte* out, std::size_t width) noexcept {
  __m256i const starts = RowSums<Bytes>(in, out, width).finish();
  add_starts(out, out, Bytes * width, starts);
}

// A summed row that is copied to the result, in whole lines except at its ends.
class StreamedRow {
 public:
  StreamedRow() = default;
  TERRAZZO_TARGET_AVX2 StreamedRow(std::byte const* from, std::byte* to, std::size_t bytes, __m256i starts) noexcept
      : from_(from), to_(to), end_(to + bytes), starts_(starts) {
    std::size_t const head = std::min(bytes, bytes_before_line(to));
    add(head);
    lines_ = (bytes - head) / kLineBytes;
  }

  TERRAZZO_TARGET_AVX2 void stream_line() noexcept {
    if (lines_ == 0) { return; }
    for (std::size_t i = 0; i < kLineBytes; i += 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to_ + i), _mm256_add_epi8(load32(from_ + i), starts_));
    }
    from_ += kLineBytes;
    to_ += kLineBytes;
    --lines_;
  }
  TERRAZZO_TARGET_AVX2 void finish() noexcept {
    while (lines_ > 0) { stream_line(); }
    add(static_cast<std::size_t>(end_ - to_));
  }

 private:
  TERRAZZO_TARGET_AVX2 void add(std::size_t bytes) noexcept {
    add_starts(to_, from_, bytes, starts_);
    from_ += bytes;
    to_ += bytes;
  }

  std::byte const* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t lines_ = 0;
  __m256i starts_{};
};

// Streaming waits for memory and summing for the shuffles, so the lines of one row are stored while the next is summed.
template <int Bytes>
TERRAZZO_TARGET_AVX2 void stream_rows_avx2(std::byte const* in, std::size_t width, std::size_t rows, std::byte* to,
                                           std::ptrdiff_t stride) noexcept {
  alignas(kLineBytes) std::byte summed[2][kMaxStreamedRowBytes];
  std::size_t const row_bytes = Bytes * width;
  StreamedRow leaving;
  for (std::size_t r = 0; r < rows; ++r, in += row_bytes, to += stride) {
    if (r + kPrefetchedRows < rows) {
      prefetch_partial_lines(to + std::ptrdiff_t{kPrefetchedRows} * stride, row_bytes);
    }
    // Planes are too short for the processor to prefetch those of the next row.
    std::byte const* next = r + 1 < rows ? in + row_bytes : in;
    RowSums<Bytes> sums(in, summed[r % 2], width);
    while (sums.has_32()) {
      sums.sum_next_32();
      for (int line = 0; line < Bytes / 2; ++line, next += kLineBytes) {
        __builtin_prefetch(next);
        leaving.stream_line();
      }
    }
    leaving.finish();
    leaving = StreamedRow(summed[r % 2], to, row_bytes, sums.finish());
  }
  leaving.finish();
}

// Joins planes of already summed bytes, 16 samples per step. Returns the number of samples done.
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

// Three bytes per sample: joined as four with a zero, then packed; each store overwrites four bytes of the next.
TERRAZZO_TARGET_AVX2 std::size_t join3_avx2(std::byte const* in, std::byte* out, std::size_t count) noexcept {
  __m128i const squeeze = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  __m128i const zero = _mm_setzero_si128();
  std::size_t i = 0;
  for (; i + 18 <= count; i += 16) {  // 18: the last 4 surplus bytes stay inside the output
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
      case 2: return undo_one_row_avx2<2>(in, out, width_px);
      case 4: return undo_one_row_avx2<4>(in, out, width_px);
      case 8: return undo_one_row_avx2<8>(in, out, width_px);
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

void stream_float_rows(std::byte* in, std::size_t width_px, std::uint32_t bytes_per_sample, std::size_t rows,
                       std::byte* to, std::ptrdiff_t stride_bytes) noexcept {
  std::size_t const row_bytes = width_px * bytes_per_sample;
#if TERRAZZO_HAVE_X86
  // Lines must begin with a sample.
  bool const whole_samples =
      (reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(stride_bytes)) % bytes_per_sample == 0;
  if (has_avx2() && whole_samples) {
    switch (bytes_per_sample) {
      case 2: return stream_rows_avx2<2>(in, width_px, rows, to, stride_bytes);
      case 4: return stream_rows_avx2<4>(in, width_px, rows, to, stride_bytes);
      case 8: return stream_rows_avx2<8>(in, width_px, rows, to, stride_bytes);
      default: break;
    }
  }
#endif
  std::byte finished[kMaxStreamedRowBytes];
  for (; rows > 0; --rows, in += row_bytes, to += stride_bytes) {
    undo_float_row(in, finished, width_px, 1, bytes_per_sample);
    copy_streaming(to, finished, row_bytes);
  }
}

}  // namespace terrazzo::tile
