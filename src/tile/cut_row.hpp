// SPDX-License-Identifier: Apache-2.0
//
// One row of a tile, from pixels at any strides to the input of an encoder: samples of a pixel together, last column
// repeated, NaN replaced, the predictor applied. A row is divided into independent chunks of 16 or 32 bytes, so that
// each can be the work of one thread of a device; the host's tests run the same code.
//
// Both predictors are a difference of samples (predictor 3: byte by byte) one pixel apart, with a suitable value before
// the first pixel: zeros for predictor 2; for predictor 3, whose differences continue from plane to plane, the last
// pixel of the row shifted down by one byte. So a chunk is loaded, shifted by one pixel, and subtracted.
#pragma once

#include "base/host_device.hpp"
#include "tiff/format.hpp"
#include "tile/byte_swap.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace terrazzo::tile {

// Samples are moved as integers of their size; a complex double is a 16-byte one.
using Sample16 = unsigned __int128;

// A row of the source. Strides may be negative; samples are aligned to their size, complex ones to the size of a part.
struct CutRow {
  std::byte const* first = nullptr;  // sample 0 of the first pixel
  std::int64_t pixel_stride_bytes = 0, band_stride_bytes = 0;
  std::int32_t columns = 0;  // columns inside the raster; at least 1
  std::int32_t width_px = 0;  // as encoded; at least columns
  std::int32_t samples = 1;  // width_px * samples is at most kMaxRowSamples
  // Size of the range in which samples are stored in the encoded order without gaps (it may extend beyond the tile). 0:
  // they are not, or unknown.
  std::int64_t packed_bytes = 0;
  bool has_two_parts = false;  // complex
};

inline constexpr std::int64_t kMaxRowSamples = (std::int64_t{1} << 31) - 64;

// NaN becomes `sentinel`. T is an unsigned integer of the size of the float.
template <class T>
struct NanRule {
  bool replaces = false;
  T sentinel = 0;

  [[nodiscard]] TERRAZZO_HOST_DEVICE T apply(T bits) const noexcept {
    if constexpr (sizeof(T) == 2) {
      return replaces && (bits & 0x7FFFU) > 0x7C00U ? sentinel : bits;
    } else if constexpr (sizeof(T) == 4) {
      return replaces && (bits & 0x7FFFFFFFU) > 0x7F800000U ? sentinel : bits;
    } else if constexpr (sizeof(T) == 8) {
      return replaces && (bits & 0x7FFFFFFFFFFFFFFFU) > 0x7FF0000000000000U ? sentinel : bits;
    } else {
      return bits;
    }
  }
};

template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T load_sample(std::byte const* at, bool has_two_parts) noexcept {
  if constexpr (sizeof(T) == 16) {
    return static_cast<T>(load_aligned<std::uint64_t>(at)) | static_cast<T>(load_aligned<std::uint64_t>(at + 8)) << 64;
  } else if constexpr (sizeof(T) >= 4) {
    using Part = std::conditional_t<sizeof(T) == 4, std::uint16_t, std::uint32_t>;
    if (has_two_parts) {
      return static_cast<T>(load_aligned<Part>(at)) | static_cast<T>(load_aligned<Part>(at + sizeof(Part)))
                                                          << (8 * sizeof(Part));
    }
    return load_aligned<T>(at);
  } else {
    return load_aligned<T>(at);
  }
}

template <class T>
TERRAZZO_HOST_DEVICE inline void store_aligned(std::byte* to, T value) noexcept {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<T*>(to) = value;
#else
  store_unaligned(to, value);
#endif
}

// ---------------------------------------------------------------------------------------------------------------
// Words of several samples

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t subtract_bytes(std::uint32_t a, std::uint32_t b) noexcept {
  return ((a | 0x80808080U) - (b & 0x7F7F7F7FU)) ^ ((a ^ ~b) & 0x80808080U);
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t subtract_halves(std::uint32_t a, std::uint32_t b) noexcept {
  return ((a | 0x80008000U) - (b & 0x7FFF7FFFU)) ^ ((a ^ ~b) & 0x80008000U);
}

// Byte i of the result is byte (selector >> 4 * i) & 7 of the eight in (b, a); byte 0 is the lowest of a.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t select_bytes(std::uint32_t a, std::uint32_t b,
                                                                     std::uint32_t selector) noexcept {
#if defined(__CUDA_ARCH__)
  return __byte_perm(a, b, selector);
#else
  std::uint64_t const both = (std::uint64_t{b} << 32) | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>((both >> (8 * ((selector >> (4 * i)) & 7U))) & 0xFFU) << (8 * i);
  }
  return result;
#endif
}

// Converts the bytes of four words to four planes, the most significant first.
TERRAZZO_HOST_DEVICE inline void sort_planes(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
                                             std::uint32_t (&planes)[4]) noexcept {
  std::uint32_t const low_ab = select_bytes(a, b, 0x5140), high_ab = select_bytes(a, b, 0x7362);
  std::uint32_t const low_cd = select_bytes(c, d, 0x5140), high_cd = select_bytes(c, d, 0x7362);
  planes[0] = select_bytes(high_ab, high_cd, 0x7632);
  planes[1] = select_bytes(high_ab, high_cd, 0x5410);
  planes[2] = select_bytes(low_ab, low_cd, 0x7632);
  planes[3] = select_bytes(low_ab, low_cd, 0x5410);
}

struct alignas(16) FourWords {
  std::uint32_t x, y, z, w;
};

// Loads words from any address by aligned loads. The last load may read up to three bytes past the words.
template <int Words>
TERRAZZO_HOST_DEVICE inline void load_words(std::byte const* from, std::uint32_t (&words)[Words]) noexcept {
  static_assert(Words % 4 == 0);
  auto const address = reinterpret_cast<std::uintptr_t>(from);
  if (address % 16 == 0) {
    TERRAZZO_UNROLL
    for (int i = 0; i < Words; i += 4) {
      auto const four = load_aligned<FourWords>(from + 4 * i);
      words[i] = four.x;
      words[i + 1] = four.y;
      words[i + 2] = four.z;
      words[i + 3] = four.w;
    }
    return;
  }
  auto const skew = static_cast<unsigned>(address % 4);
  std::byte const* const base = from - skew;
  std::uint32_t next = load_aligned<std::uint32_t>(base);
  TERRAZZO_UNROLL
  for (int i = 0; i < Words; ++i) {
    std::uint32_t const word = next;
    next = i + 1 < Words || skew != 0 ? load_aligned<std::uint32_t>(base + 4 * (i + 1)) : 0;
    words[i] = static_cast<std::uint32_t>(((std::uint64_t{next} << 32) | word) >> (8 * skew));
  }
}

// Stores `bytes` bytes of the words after `skip_bytes` to any address, in the widest pieces that its alignment allows.
template <int Words>
TERRAZZO_HOST_DEVICE inline void store_words(std::uint32_t const (&words)[Words], std::byte* to, int skip_bytes,
                                             int bytes) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(to);
  bool const whole = bytes == 4 * Words;
  if constexpr (Words % 4 == 0) {
    if (whole && address % 16 == 0) {
      TERRAZZO_UNROLL
      for (int i = 0; i < Words; i += 4) {
        store_aligned(to + 4 * i, FourWords{words[i], words[i + 1], words[i + 2], words[i + 3]});
      }
      return;
    }
  }
  if (whole && address % 4 == 0) {
    TERRAZZO_UNROLL
    for (int i = 0; i < Words; ++i) { store_aligned(to + 4 * i, words[i]); }
    return;
  }
  // Volatile; otherwise the device's compiler may merge them into one wide store, which faults when unaligned.
  auto* const out = reinterpret_cast<unsigned char volatile*>(to);
  TERRAZZO_UNROLL
  for (int i = 0; i < 4 * Words; ++i) {
    if (i >= skip_bytes && i < skip_bytes + bytes) {
      out[i - skip_bytes] = static_cast<unsigned char>((words[i / 4] >> (8 * (i % 4))) & 0xFFU);
    }
  }
}

// Inserts sample `index` into the words, which are zeros there, with `skew_bytes` before the first one.
template <class T>
TERRAZZO_HOST_DEVICE inline void put_sample(std::uint32_t* words, int index, T value, int skew_bytes = 0) noexcept {
  int const at = skew_bytes + index * static_cast<int>(sizeof(T));
  if constexpr (sizeof(T) < 4) {
    words[at / 4] |= static_cast<std::uint32_t>(value) << (8 * (at % 4));
  } else {
    TERRAZZO_UNROLL
    for (int i = 0; i < static_cast<int>(sizeof(T)) / 4; ++i) {
      words[at / 4 + i] = static_cast<std::uint32_t>(value >> (32 * i));
    }
  }
}

template <class T, int Words>
TERRAZZO_HOST_DEVICE inline void replace_nan(NanRule<T> const& rule, std::uint32_t (&words)[Words]) noexcept {
  if (!rule.replaces) { return; }
  TERRAZZO_UNROLL
  for (int i = 0; i < Words; ++i) {
    if constexpr (sizeof(T) == 2) {
      words[i] = rule.apply(static_cast<T>(words[i] & 0xFFFFU)) |
                 static_cast<std::uint32_t>(rule.apply(static_cast<T>(words[i] >> 16))) << 16;
    } else if constexpr (sizeof(T) == 4) {
      words[i] = rule.apply(words[i]);
    } else if constexpr (sizeof(T) == 8) {
      if (i % 2 != 0) { continue; }
      std::uint64_t const bits = rule.apply((std::uint64_t{words[i + 1]} << 32) | words[i]);
      words[i] = static_cast<std::uint32_t>(bits);
      words[i + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
  }
}

// a - b, sample by sample.
template <class T, int Words>
TERRAZZO_HOST_DEVICE inline void subtract(std::uint32_t (&a)[Words], std::uint32_t const (&b)[Words]) noexcept {
  TERRAZZO_UNROLL
  for (int i = 0; i < Words; ++i) {
    if constexpr (sizeof(T) == 1) {
      a[i] = subtract_bytes(a[i], b[i]);
    } else if constexpr (sizeof(T) == 2) {
      a[i] = subtract_halves(a[i], b[i]);
    } else if constexpr (sizeof(T) == 4) {
      a[i] -= b[i];
    } else {
      static_assert(sizeof(T) == 8);
      if (i % 2 != 0) { continue; }
      std::uint64_t const difference =
          ((std::uint64_t{a[i + 1]} << 32) | a[i]) - ((std::uint64_t{b[i + 1]} << 32) | b[i]);
      a[i] = static_cast<std::uint32_t>(difference);
      a[i + 1] = static_cast<std::uint32_t>(difference >> 32);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Chunks. `Samples` is CutRow::samples as a compile-time constant (1 to 4), or 0.

template <class T>
inline constexpr int kChunkWords = sizeof(T) == 8 ? 8 : 4;
// At least four, except for complex doubles: one pixel of up to four samples fits in a chunk.
template <class T>
inline constexpr int kChunkSamples = 4 * kChunkWords<T> / static_cast<int>(sizeof(T));

template <class T, int Samples>
struct RowCutter {
  CutRow row{};
  NanRule<T> rule{};

  static constexpr int kWords = kChunkWords<T>;
  static constexpr int kCount = kChunkSamples<T>;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::int32_t samples() const noexcept {
    return Samples != 0 ? Samples : row.samples;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::int32_t row_samples() const noexcept { return row.width_px * samples(); }

  // After the last column: repeats that column.
  [[nodiscard]] TERRAZZO_HOST_DEVICE T sample(std::int32_t i) const noexcept {
    std::int32_t column = i / samples();
    std::int32_t const band = i - column * samples();
    column = column < row.columns ? column : row.columns - 1;
    return rule.apply(
        load_sample<T>(row.first + column * row.pixel_stride_bytes + band * row.band_stride_bytes, row.has_two_parts));
  }

  // The value of sample `i` for predictor P; also for the pixel before the first.
  template <tiff::Predictor P>
  [[nodiscard]] TERRAZZO_HOST_DEVICE T sample_or_before(std::int32_t i) const noexcept {
    if (i >= 0) { return sample(i); }
    if constexpr (P == tiff::Predictor::floating_point) { return static_cast<T>(sample(row_samples() + i) >> 8); }
    return 0;
  }

  // Loads samples from `begin` on, which may lie before the row (zeros) and extend past its end.
  TERRAZZO_HOST_DEVICE void load(std::int32_t begin, std::uint32_t (&words)[kWords]) const noexcept {
    std::int64_t const at = begin * static_cast<std::int64_t>(sizeof(T));
    auto const skew = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row.first + at) % 4);
    std::int64_t const reach = at + 4 * kWords + (skew != 0 ? 4 - skew : 0);
    if (begin >= 0 && reach <= row.packed_bytes && begin + kCount <= row.columns * samples()) {
      load_words(row.first + at, words);
      replace_nan(rule, words);
      return;
    }
    TERRAZZO_UNROLL
    for (int i = 0; i < kWords; ++i) { words[i] = 0; }
    TERRAZZO_UNROLL
    for (int i = 0; i < kCount; ++i) { put_sample<T>(words, i, sample_or_before<tiff::Predictor::none>(begin + i)); }
  }

  // Replaces `words`, the samples from `begin` on, by differences.
  template <tiff::Predictor P>
  TERRAZZO_HOST_DEVICE void predict(std::int32_t begin, std::uint32_t (&words)[kWords]) const noexcept {
    std::uint32_t before[kWords] = {};
    if constexpr (Samples != 0) {
      constexpr int kHeadWords = (Samples * static_cast<int>(sizeof(T)) + 3) / 4;
      constexpr int kSkew = 4 * kHeadWords - Samples * static_cast<int>(sizeof(T));
      std::uint32_t longer[kHeadWords + kWords] = {};
      TERRAZZO_UNROLL
      for (int s = 0; s < Samples; ++s) { put_sample<T>(longer, s, sample_or_before<P>(begin - Samples + s), kSkew); }
      TERRAZZO_UNROLL
      for (int i = 0; i < kWords; ++i) { longer[kHeadWords + i] = words[i]; }
      TERRAZZO_UNROLL
      for (int i = 0; i < kWords; ++i) {
        before[i] = static_cast<std::uint32_t>(((std::uint64_t{longer[i + 1]} << 32) | longer[i]) >> (8 * kSkew));
      }
    } else {
      TERRAZZO_UNROLL
      for (int i = 0; i < kCount; ++i) { put_sample<T>(before, i, sample_or_before<P>(begin + i - samples())); }
    }
    subtract<std::conditional_t<P == tiff::Predictor::floating_point, std::uint8_t, T>>(words, before);
  }

  // Each byte plane of a row has one byte per sample of the row; the bytes of `count` samples go to `begin` of each.
  TERRAZZO_HOST_DEVICE void store_planes(std::uint32_t const (&words)[kWords], std::int32_t begin, int count,
                                         std::byte* out) const noexcept {
    constexpr int kPlanes = static_cast<int>(sizeof(T));
    constexpr int kPlaneWords = kCount / 4;
    std::uint32_t planes[kPlanes][kPlaneWords];
    if constexpr (kPlanes == 2) {
      TERRAZZO_UNROLL
      for (int i = 0; i < kPlaneWords; ++i) {
        planes[0][i] = select_bytes(words[2 * i], words[2 * i + 1], 0x7531);
        planes[1][i] = select_bytes(words[2 * i], words[2 * i + 1], 0x6420);
      }
    } else {
      static_assert(kPlanes == 4 || kPlanes == 8);
      constexpr int kStep = kPlanes / 4;  // words of a sample
      TERRAZZO_UNROLL
      for (int part = 0; part < kStep; ++part) {  // the most significant first
        std::uint32_t four[4];
        int const first = kStep - 1 - part;
        sort_planes(words[first], words[first + kStep], words[first + 2 * kStep], words[first + 3 * kStep], four);
        TERRAZZO_UNROLL
        for (int p = 0; p < 4; ++p) { planes[4 * part + p][0] = four[p]; }
      }
    }
    std::byte* to = out + begin;
    TERRAZZO_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      store_words(planes[p], to, 0, count);
      to += row_samples();
    }
  }

  // Chunks are divided so that their stores are aligned; planes have no common alignment.
  template <tiff::Predictor P>
  [[nodiscard]] TERRAZZO_HOST_DEVICE static std::int32_t lead(std::byte const* out) noexcept {
    if constexpr (P == tiff::Predictor::floating_point) { return 0; }
    return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(out) % 16 / sizeof(T));
  }

  // For the row that is encoded at `out`, which is aligned to sizeof(T).
  template <tiff::Predictor P>
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::int32_t chunk_count(std::byte const* out) const noexcept {
    return (row_samples() + lead<P>(out) + kCount - 1) / kCount;
  }

  template <tiff::Predictor P>
  TERRAZZO_HOST_DEVICE void cut(std::int32_t chunk, std::byte* out) const noexcept {
    std::uint32_t words[kWords];
    std::int32_t const begin = chunk * kCount - lead<P>(out);
    load(begin, words);
    if constexpr (P != tiff::Predictor::none) { predict<P>(begin, words); }
    if constexpr (P == tiff::Predictor::floating_point) {
      std::int32_t const left = row_samples() - begin;
      store_planes(words, begin, left < kCount ? left : kCount, out);
    } else {
      store(words, begin, out);
    }
  }

  // Writes zeros for a missing row.
  template <tiff::Predictor P>
  TERRAZZO_HOST_DEVICE void clear(std::int32_t chunk, std::byte* out) const noexcept {
    std::uint32_t const zeros[kWords] = {};
    store(zeros, chunk * kCount - lead<P>(out), out);
  }

  // True if all samples of a chunk inside the row equal `value`, bit for bit.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_filled_with(T value, std::int32_t chunk) const noexcept {
    std::uint32_t words[kWords], wanted[kWords] = {};
    TERRAZZO_UNROLL
    for (int i = 0; i < kCount; ++i) { put_sample<T>(wanted, i, value); }
    load(chunk * kCount, words);  // repeated columns count as inside
    std::uint32_t difference = 0;
    TERRAZZO_UNROLL
    for (int i = 0; i < kWords; ++i) { difference |= words[i] ^ wanted[i]; }
    return difference == 0;
  }

 private:
  TERRAZZO_HOST_DEVICE void store(std::uint32_t const (&words)[kWords], std::int32_t begin,
                                  std::byte* out) const noexcept {
    std::int32_t const low = begin < 0 ? 0 : begin;
    std::int32_t const left = row_samples() - begin;
    std::int32_t const high = begin + (left < kCount ? left : kCount);
    constexpr int kBytes = static_cast<int>(sizeof(T));
    store_words(words, out + std::int64_t{low} * kBytes, (low - begin) * kBytes, (high - low) * kBytes);
  }
};

}  // namespace terrazzo::tile
