// SPDX-License-Identifier: Apache-2.0
//
// The byte order of samples: single samples for host and device, whole rows with vectors for the host.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::tile {

// Written with shifts instead of a builtin, so that the device compiles the same code; compilers recognise it.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint8_t byte_swapped(std::uint8_t value) noexcept { return value; }

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint16_t byte_swapped(std::uint16_t value) noexcept {
  return static_cast<std::uint16_t>((value << 8) | (value >> 8));
}

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t byte_swapped(std::uint32_t value) noexcept {
  return (value << 24) | ((value & 0xFF00U) << 8) | ((value >> 8) & 0xFF00U) | (value >> 24);
}

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t byte_swapped(std::uint64_t value) noexcept {
  return (static_cast<std::uint64_t>(byte_swapped(static_cast<std::uint32_t>(value))) << 32) |
         byte_swapped(static_cast<std::uint32_t>(value >> 32));
}

// Samples lie in byte buffers at any alignment.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T load_unaligned(std::byte const* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// REQUIRES, on the device: `from` is aligned for T. Loads of unknown alignment are byte by byte there.
template <class T>
[[nodiscard]] TERRAZZO_HOST_DEVICE inline T load_aligned(std::byte const* from) noexcept {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<T const*>(from);
#else
  return load_unaligned<T>(from);
#endif
}

template <class T>
TERRAZZO_HOST_DEVICE inline void store_unaligned(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

// Reverses the bytes of each of `sample_count` samples of 2, 3, 4 or 8 bytes. `out` may equal `in`, otherwise they must
// not overlap. Size 1 is copied unchanged; other sizes are errors of the caller. A complex sample is two samples here.
void swap_samples(std::byte const* in, std::byte* out, std::size_t sample_count,
                  std::uint32_t bytes_per_sample) noexcept;

inline void swap_samples(std::byte* samples, std::size_t sample_count, std::uint32_t bytes_per_sample) noexcept {
  swap_samples(samples, samples, sample_count, bytes_per_sample);
}

}  // namespace terrazzo::tile
