// SPDX-License-Identifier: Apache-2.0
#include "tile/host/jpeg_rows.hpp"

#include "tile/host/jpeg_color.hpp"

#include <algorithm>

#if TERRAZZO_HAVE_X86
#include "tile/host/byte_planes_avx2.hpp"

#include <immintrin.h>
#endif

namespace terrazzo::tile {
namespace {

constexpr int kCentre = 128;

// The two chroma rows around a row of the picture.
struct ChromaRow {
  std::byte const* near;
  std::byte const* far;
};

struct Row {
  std::byte const* luma;
  ChromaRow cb, cr;
  std::size_t chroma_count;
};

Row row_of(JpegPlanes const& planes, std::uint32_t row) noexcept {
  std::uint32_t const near = row / 2, last = planes.chroma_height() - 1;
  std::uint32_t const far = row % 2 == 0 ? near - std::min(near, 1U) : std::min(near + 1, last);
  auto const chroma = [&](std::byte const* plane) {
    return ChromaRow{plane + near * planes.chroma_pitch, plane + far * planes.chroma_pitch};
  };
  return {planes.luma + row * planes.luma_pitch, chroma(planes.cb), chroma(planes.cr), planes.chroma_width()};
}

// Three parts of the near sample and one of the far one, in both directions. The rounding alternates from pixel to
// pixel, which avoids a bias.
int upsampled(ChromaRow const& row, std::size_t chroma_count, std::size_t x) noexcept {
  auto const sum = [&row](std::size_t at) {
    return 3 * std::to_integer<int>(row.near[at]) + std::to_integer<int>(row.far[at]);
  };
  std::size_t const here = x / 2;
  bool const is_left = x % 2 == 0;
  std::size_t const beside = is_left ? here - std::min<std::size_t>(here, 1) : std::min(here + 1, chroma_count - 1);
  return (3 * sum(here) + sum(beside) + (is_left ? 8 : 7)) >> 4;
}

std::byte limited(int value) noexcept { return static_cast<std::byte>(std::clamp(value, 0, 255)); }

void make_pixels(Row const& row, std::size_t from, std::size_t to, RgbRow const& out) noexcept {
  for (std::size_t x = from; x < to; ++x) {
    int const luma = std::to_integer<int>(row.luma[x]);
    int const cb = upsampled(row.cb, row.chroma_count, x) - kCentre;
    int const cr = upsampled(row.cr, row.chroma_count, x) - kCentre;
    auto const [red, green, blue] = jpeg_to_rgb(luma, cb, cr);
    out.red[x] = limited(red);
    out.green[x] = limited(green);
    out.blue[x] = limited(blue);
  }
}

#if TERRAZZO_HAVE_X86

constexpr std::size_t kChromaAtOnce = 16;
constexpr std::size_t kLeastForVectors = 1 + kChromaAtOnce + 1;  // chroma samples: the ends have one neighbour only

TERRAZZO_TARGET_AVX2 inline __m256i widened(std::byte const* from) noexcept {
  return _mm256_cvtepu8_epi16(load16(from));
}

TERRAZZO_TARGET_AVX2 inline __m256i three_times(__m256i value) noexcept {
  return _mm256_add_epi16(value, _mm256_add_epi16(value, value));
}

TERRAZZO_TARGET_AVX2 inline __m256i vertical_sum(ChromaRow const& row, std::size_t at) noexcept {
  return _mm256_add_epi16(three_times(widened(row.near + at)), widened(row.far + at));
}

// The 32 pixels over chroma samples [at, at + 16). Left and right pixels are the bytes of one 16-bit word.
TERRAZZO_TARGET_AVX2 inline __m256i upsample_32(ChromaRow const& row, std::size_t at) noexcept {
  __m256i const here = three_times(vertical_sum(row, at));
  __m256i const left = _mm256_add_epi16(here, vertical_sum(row, at - 1));
  __m256i const right = _mm256_add_epi16(here, vertical_sum(row, at + 1));
  return _mm256_or_si256(_mm256_srli_epi16(_mm256_add_epi16(left, _mm256_set1_epi16(8)), 4),
                         _mm256_slli_epi16(_mm256_srli_epi16(_mm256_add_epi16(right, _mm256_set1_epi16(7)), 4), 8));
}

// (value * factor + kJpegHalf) >> 16, exactly: the argument is twice the value, so the upper half of the product keeps
// one extra bit for rounding.
TERRAZZO_TARGET_AVX2 inline __m256i times(__m256i twice_value, int factor) noexcept {
  __m256i const product = _mm256_mulhi_epi16(twice_value, _mm256_set1_epi16(static_cast<short>(factor)));
  return _mm256_srai_epi16(_mm256_add_epi16(product, _mm256_set1_epi16(1)), 1);
}

struct Sixteen {
  __m256i red, green, blue;
};

// Factors beyond 16 bits are split into a whole part, which is added, and the rest.
TERRAZZO_TARGET_AVX2 inline Sixteen convert_16(__m256i luma, __m256i cb, __m256i cr) noexcept {
  __m256i const centre = _mm256_set1_epi16(kCentre);
  cb = _mm256_sub_epi16(cb, centre);
  cr = _mm256_sub_epi16(cr, centre);
  __m256i const twice_cb = _mm256_add_epi16(cb, cb), twice_cr = _mm256_add_epi16(cr, cr);
  __m256i const red = _mm256_add_epi16(cr, times(twice_cr, kRedOfCr - kJpegOne));
  __m256i const blue = _mm256_add_epi16(twice_cb, times(twice_cb, kBlueOfCb - 2 * kJpegOne));
  constexpr auto kGreenFactors = static_cast<std::int32_t>(static_cast<std::uint32_t>(kGreenOfCr + kJpegOne) << 16 |
                                                           static_cast<std::uint16_t>(kGreenOfCb));
  __m256i const factors = _mm256_set1_epi32(kGreenFactors), half = _mm256_set1_epi32(kJpegHalf);
  __m256i const low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
  __m256i const high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
  __m256i const green = _mm256_sub_epi16(_mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
                                                            _mm256_srai_epi32(_mm256_add_epi32(high, half), 16)),
                                         cr);
  return {_mm256_add_epi16(luma, red), _mm256_add_epi16(luma, green), _mm256_add_epi16(luma, blue)};
}

// REQUIRES: a chroma sample on each side of the 16.
TERRAZZO_TARGET_AVX2 inline void make_32(Row const& row, std::size_t at, RgbRow const& out) noexcept {
  __m256i const zero = _mm256_setzero_si256();
  __m256i const luma = load32(row.luma + 2 * at);
  __m256i const cb = upsample_32(row.cb, at), cr = upsample_32(row.cr, at);
  Sixteen const low =
      convert_16(_mm256_unpacklo_epi8(luma, zero), _mm256_unpacklo_epi8(cb, zero), _mm256_unpacklo_epi8(cr, zero));
  Sixteen const high =
      convert_16(_mm256_unpackhi_epi8(luma, zero), _mm256_unpackhi_epi8(cb, zero), _mm256_unpackhi_epi8(cr, zero));
  store32(out.red + 2 * at, _mm256_packus_epi16(low.red, high.red));
  store32(out.green + 2 * at, _mm256_packus_epi16(low.green, high.green));
  store32(out.blue + 2 * at, _mm256_packus_epi16(low.blue, high.blue));
}

TERRAZZO_TARGET_AVX2 void make_row_avx2(Row const& row, std::size_t count, RgbRow const& out) noexcept {
  std::size_t const end = std::min(row.chroma_count - 1, count / 2);
  if (end < 1 + kChromaAtOnce) {
    make_pixels(row, 0, count, out);
    return;
  }
  make_pixels(row, 0, 2, out);
  for (std::size_t at = 1; at + kChromaAtOnce < end; at += kChromaAtOnce) { make_32(row, at, out); }
  make_32(row, end - kChromaAtOnce, out);  // repeats some pixels
  make_pixels(row, 2 * end, count, out);
}

#endif

}  // namespace

bool has_fast_jpeg_rows([[maybe_unused]] std::uint32_t width_px) noexcept {
#if TERRAZZO_HAVE_X86
  static bool const has_vectors = has_avx2();
  return has_vectors && width_px / 2 >= kLeastForVectors;
#else
  return false;
#endif
}

void make_rgb_row(JpegPlanes const& planes, std::uint32_t row, std::size_t count, RgbRow const& out) noexcept {
#if TERRAZZO_HAVE_X86
  if (has_fast_jpeg_rows(planes.width_px)) { return make_row_avx2(row_of(planes, row), count, out); }
#endif
  make_pixels(row_of(planes, row), 0, count, out);
}

}  // namespace terrazzo::tile
