// SPDX-License-Identifier: Apache-2.0
//
// Copies samples in host memory from one stride to another, unchanged.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace terrazzo::tile {

// The size is a compile-time constant, so that copies are moves.
template <std::size_t Bytes>
void copy_strided(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to,
                  std::ptrdiff_t to_stride_bytes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Bytes);
    from += from_stride_bytes;
    to += to_stride_bytes;
  }
}

// Copies to adjacent samples: one store for eight bytes of samples. With one store per sample the time depends on code
// alignment and is up to twice as long (three bands of uint16 into planes, uncompressed: 53 or 106 ms for 96 MiB).
template <std::size_t Bytes>
void copy_packed(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to, std::size_t count) noexcept {
  constexpr std::size_t kPerWord = sizeof(std::uint64_t) / Bytes;
  for (; count >= kPerWord; count -= kPerWord) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < kPerWord; ++k) {
      std::uint64_t sample = 0;
      std::memcpy(&sample, from, Bytes);
      word |= sample << (8 * Bytes * k);
      from += from_stride_bytes;
    }
    std::memcpy(to, &word, sizeof(word));
    to += sizeof(word);
  }
  copy_strided<Bytes>(from, from_stride_bytes, to, Bytes, count);
}

// Repeats one sample, adjacent, eight bytes at a time.
template <std::size_t Bytes>
void repeat_sample(std::byte const* sample, std::byte* to, std::size_t count) noexcept {
  if constexpr (Bytes > sizeof(std::uint64_t)) {
    copy_strided<Bytes>(sample, 0, to, Bytes, count);
  } else {
    std::uint64_t word = 0;
    std::memcpy(&word, sample, Bytes);
    if constexpr (std::endian::native == std::endian::big) { word >>= 64 - 8 * Bytes; }
    for (std::size_t filled = Bytes; filled < sizeof(word); filled *= 2) { word |= word << (8 * filled); }
    std::size_t const words = Bytes * count / sizeof(word), left = Bytes * count % sizeof(word);
    for (std::size_t i = 0; i < words; ++i) { std::memcpy(to + i * sizeof(word), &word, sizeof(word)); }
    std::memcpy(to + words * sizeof(word), &word, left);
  }
}

// Copies from one stride to another; uses wide stores for adjacent or repeated samples.
template <std::size_t Bytes>
void copy_or_repeat(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to,
                    std::ptrdiff_t to_stride_bytes, std::size_t count) noexcept {
  if (from_stride_bytes == 0 && to_stride_bytes == std::ptrdiff_t{Bytes}) {
    return repeat_sample<Bytes>(from, to, count);
  }
  if constexpr (Bytes < sizeof(std::uint64_t) && std::endian::native == std::endian::little) {
    if (to_stride_bytes == std::ptrdiff_t{Bytes}) { return copy_packed<Bytes>(from, from_stride_bytes, to, count); }
  }
  copy_strided<Bytes>(from, from_stride_bytes, to, to_stride_bytes, count);
}

// `sample_bytes` is the size of a DType. Strides may have any sign; the two ranges do not overlap.
inline void copy_samples(std::byte const* from, std::ptrdiff_t from_stride_bytes, std::byte* to,
                         std::ptrdiff_t to_stride_bytes, std::size_t count, std::size_t sample_bytes) noexcept {
  auto const together = static_cast<std::ptrdiff_t>(sample_bytes);
  if (from_stride_bytes == together && to_stride_bytes == together) {
    std::memcpy(to, from, sample_bytes * count);
    return;
  }
  switch (sample_bytes) {
    case 1: return copy_or_repeat<1>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 2: return copy_or_repeat<2>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 4: return copy_or_repeat<4>(from, from_stride_bytes, to, to_stride_bytes, count);
    case 8: return copy_or_repeat<8>(from, from_stride_bytes, to, to_stride_bytes, count);
    default: return copy_or_repeat<16>(from, from_stride_bytes, to, to_stride_bytes, count);
  }
}

template <std::size_t Bytes>
void gather_known(std::byte const* from, std::span<std::uint32_t const> places, std::byte* to) noexcept {
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(to + i * Bytes, from + std::size_t{places[i]} * Bytes, Bytes);
  }
}

// Gathers pixels of `pixel_bytes` from given columns of a row.
inline void gather_pixels(std::byte const* from, std::span<std::uint32_t const> places, std::size_t pixel_bytes,
                          std::byte* to) noexcept {
  switch (pixel_bytes) {
    case 1: return gather_known<1>(from, places, to);
    case 2: return gather_known<2>(from, places, to);
    case 3: return gather_known<3>(from, places, to);
    case 4: return gather_known<4>(from, places, to);
    case 8: return gather_known<8>(from, places, to);
    default: break;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(to + i * pixel_bytes, from + places[i] * pixel_bytes, pixel_bytes);
  }
}

}  // namespace terrazzo::tile
