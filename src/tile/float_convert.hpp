// SPDX-License-Identifier: Apache-2.0
//
// Converts the small floats of TIFF technical note 3 to and from IEEE single and double, bit for bit: subnormals become
// normal numbers, infinities and the payload of NaNs are kept (a NaN stays quiet or signalling).
// Works on bit patterns, so that the result is independent of rounding mode, flush-to-zero mode and device.
#pragma once

#include "base/host_device.hpp"
#include "tile/byte_swap.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::tile {

// memcpy, since nvcc does not support std::bit_cast in device code.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t bits_of_float(float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// 1 sign, 5 exponent, 10 mantissa bits -> the bits of a float32.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t float16_to_float32_bits(std::uint16_t half) noexcept {
  std::uint32_t const sign = (half & 0x8000U) << 16;
  std::uint32_t exponent = (half >> 10) & 0x1FU;
  std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1F) { return sign | 0x7F800000U | (mantissa << 13); }
  if (exponent == 0) {
    if (mantissa == 0) { return sign; }
    exponent = 1;
    while ((mantissa & 0x400U) == 0) {
      mantissa <<= 1;
      --exponent;  // wraps below zero; the bias added below brings it back
    }
    mantissa &= 0x3FFU;
  }
  return sign | ((exponent + (127 - 15)) << 23) | (mantissa << 13);
}

// 1 sign, 7 exponent, 16 mantissa bits in the low 24 bits -> the bits of a float32.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t float24_to_float32_bits(std::uint32_t triple) noexcept {
  std::uint32_t const sign = (triple & 0x800000U) << 8;
  std::uint32_t exponent = (triple >> 16) & 0x7FU;
  std::uint32_t mantissa = triple & 0xFFFFU;
  if (exponent == 0x7F) { return sign | 0x7F800000U | (mantissa << 7); }
  if (exponent == 0) {
    if (mantissa == 0) { return sign; }
    exponent = 1;
    while ((mantissa & 0x10000U) == 0) {
      mantissa <<= 1;
      --exponent;
    }
    mantissa &= 0xFFFFU;
  }
  return sign | ((exponent + (127 - 63)) << 23) | (mantissa << 7);
}

// Every float32 is a float64; a signalling NaN stays signalling.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t float32_to_float64_bits(std::uint32_t single) noexcept {
  std::uint64_t const sign = static_cast<std::uint64_t>(single & 0x80000000U) << 32;
  std::uint64_t exponent = (single >> 23) & 0xFFU;
  std::uint64_t mantissa = single & 0x7FFFFFU;
  if (exponent == 0xFF) { return sign | 0x7FF0000000000000U | (mantissa << 29); }
  if (exponent == 0) {
    if (mantissa == 0) { return sign; }
    exponent = 1;
    while ((mantissa & 0x800000U) == 0) {
      mantissa <<= 1;
      --exponent;
    }
    mantissa &= 0x7FFFFFU;
  }
  return sign | ((exponent + (1023 - 127)) << 52) | (mantissa << 29);
}

// Rounds to nearest, ties to even; too large becomes infinity; a NaN stays a NaN, quiet.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint16_t float32_to_float16_bits(std::uint32_t single) noexcept {
  std::uint32_t const sign = (single >> 16) & 0x8000U;
  std::uint32_t const magnitude = single & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) { return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU)); }
  if (magnitude >= 0x477FF000U) {  // 65520, half way between the largest half and its would-be successor
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  }
  if (magnitude <= 0x33000000U) {  // 2^-25, half of the smallest subnormal: a tie, and zero is even
    return static_cast<std::uint16_t>(sign);
  }
  std::uint32_t const exponent = magnitude >> 23;
  // Normal halves drop 13 mantissa bits, subnormal ones (below 2^-14, biased 113) one more for each exponent below
  // that.
  std::uint32_t const dropped = exponent >= 113 ? 13 : 13 + (113 - exponent);
  std::uint32_t const value = exponent >= 113 ? magnitude - ((127U - 15U) << 23) : (magnitude & 0x7FFFFFU) | 0x800000U;
  std::uint32_t const kept = value >> dropped;
  std::uint32_t const rest = value & ((1U << dropped) - 1);
  std::uint32_t const half = 1U << (dropped - 1);
  std::uint32_t const up = rest > half || (rest == half && (kept & 1U) != 0) ? 1 : 0;
  return static_cast<std::uint16_t>(sign |
                                    (kept + up));  // a carry out of the mantissa correctly increments the exponent
}

// Converts a double with one rounding: through a float, numbers near the border of two halves would be rounded to the
// border first.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint16_t float64_to_float16_bits(std::uint64_t twice) noexcept {
  auto const sign = static_cast<std::uint32_t>(twice >> 48) & 0x8000U;
  std::uint64_t const magnitude = twice & 0x7FFFFFFFFFFFFFFFU;
  if (magnitude > 0x7FF0000000000000U) {
    return static_cast<std::uint16_t>(sign | 0x7E00U | (static_cast<std::uint32_t>(magnitude >> 42) & 0x3FFU));
  }
  if (magnitude >= 0x40EFFE0000000000U) { return static_cast<std::uint16_t>(sign | 0x7C00U); }  // 65520
  if (magnitude <= 0x3E60000000000000U) { return static_cast<std::uint16_t>(sign); }  // 2^-25
  auto const exponent = static_cast<std::uint32_t>(magnitude >> 52);
  // As above: 42 bits are dropped, and one more for each exponent below 2^-14 (biased 1009).
  std::uint32_t const dropped = exponent >= 1009 ? 42 : 42 + (1009 - exponent);
  std::uint64_t const value = exponent >= 1009 ? magnitude - (std::uint64_t{1023 - 15} << 52)
                                               : (magnitude & 0xFFFFFFFFFFFFFU) | 0x10000000000000U;
  std::uint64_t const kept = value >> dropped;
  std::uint64_t const rest = value & ((std::uint64_t{1} << dropped) - 1);
  std::uint64_t const half = std::uint64_t{1} << (dropped - 1);
  std::uint64_t const up = rest > half || (rest == half && (kept & 1U) != 0) ? 1 : 0;
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(kept + up));
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint16_t double_to_half(double value) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return float64_to_float16_bits(bits);
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline float half_to_float(std::uint16_t half) noexcept {
  return float_of_bits(float16_to_float32_bits(half));
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint16_t float_to_half(float single) noexcept {
  return float32_to_float16_bits(bits_of_float(single));
}

// Convert rows to float32. `swapped` means that `in` is big-endian. `in` may lie at the end of `out`'s memory, with a
// common last byte: every sample is read, front to back, before its bytes are overwritten.
TERRAZZO_HOST_DEVICE inline void widen_float16_row(std::byte const* in, std::byte* out, std::size_t count,
                                                   bool swapped) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    auto const half = load_unaligned<std::uint16_t>(in + 2 * i);
    store_unaligned<std::uint32_t>(out + 4 * i, float16_to_float32_bits(swapped ? byte_swapped(half) : half));
  }
}

TERRAZZO_HOST_DEVICE inline void widen_float24_row(std::byte const* in, std::byte* out, std::size_t count,
                                                   bool swapped) noexcept {
  std::size_t const low = swapped ? 2 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte const* const triple = in + 3 * i;
    std::uint32_t const bits = static_cast<std::uint32_t>(triple[low]) | (static_cast<std::uint32_t>(triple[1]) << 8) |
                               (static_cast<std::uint32_t>(triple[2 - low]) << 16);
    store_unaligned<std::uint32_t>(out + 4 * i, float24_to_float32_bits(bits));
  }
}

}  // namespace terrazzo::tile
