// SPDX-License-Identifier: Apache-2.0
//
// Symbols of Deflate (RFC 1951, 3.2.5 and 3.2.7) by arithmetic instead of tables, for host and device, and a bit stream
// that many threads write.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

inline constexpr std::uint32_t kDeflateLiteralSymbols = 286, kDeflateDistanceSymbols = 30, kDeflateRunSymbols = 19;
inline constexpr std::uint32_t kDeflateEndOfBlock = 256, kDeflateFirstLength = 257;
inline constexpr std::uint32_t kDeflateShortestMatch = 3, kDeflateLongestMatch = 258;
inline constexpr std::uint32_t kDeflateFarthest = 32768;
inline constexpr std::uint32_t kDeflateMostBits = 15, kDeflateMostRunBits = 7;

// The zlib frame around a stream (RFC 1950): a header before it, and a checksum after it.
inline constexpr std::uint32_t kZlibHeaderBytes = 2, kZlibTailBytes = 4;
// Method 8, window up to 32 KiB, no preset dictionary, check bits.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr bool is_zlib_header(unsigned cmf, unsigned flags) noexcept {
  return (cmf & 15u) == 8 && (cmf >> 4) <= 7 && (flags & 0x20u) == 0 && (cmf * 256 + flags) % 31 == 0;
}

// The number of bits of a value; 0 for 0.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t bits_of(std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  return 32U - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#else
  return value == 0 ? 0 : 32U - static_cast<std::uint32_t>(__builtin_clz(value));
#endif
}

// The number of trailing zero bits. REQUIRES: the value is not 0.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t trailing_zeros(std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(value))) - 1U;
#else
  return static_cast<std::uint32_t>(__builtin_ctz(value));
#endif
}

// A symbol, and its extra bits.
struct DeflateSymbol {
  std::uint32_t symbol, extra, extra_bits;
};

// Symbols are counted from 0: add 257.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline DeflateSymbol length_symbol(std::uint32_t length) noexcept {
  std::uint32_t const more = length - kDeflateShortestMatch;
  if (more < 8) { return {more, 0, 0}; }
  if (length == kDeflateLongestMatch) { return {28, 0, 0}; }
  std::uint32_t const extra_bits = bits_of(more) - 3;
  return {4 * extra_bits + (more >> extra_bits), more & ((1U << extra_bits) - 1), extra_bits};
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline DeflateSymbol distance_symbol(std::uint32_t distance) noexcept {
  std::uint32_t const more = distance - 1;
  if (more < 4) { return {more, 0, 0}; }
  std::uint32_t const extra_bits = bits_of(more) - 2;
  return {2 * extra_bits + (more >> extra_bits), more & ((1U << extra_bits) - 1), extra_bits};
}

// The number of extra bits of a symbol of the literal or length code.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t length_extra_bits(std::uint32_t symbol) noexcept {
  if (symbol < kDeflateFirstLength + 8 || symbol == kDeflateFirstLength + 28) { return 0; }
  return (symbol - kDeflateFirstLength) / 4 - 1;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t distance_extra_bits(std::uint32_t symbol) noexcept {
  return symbol < 4 ? 0 : symbol / 2 - 1;
}

// The length of a symbol whose extra bits are 0. REQUIRES: the symbol is a length.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t least_length(std::uint32_t symbol) noexcept {
  std::uint32_t const place = symbol - kDeflateFirstLength;
  if (place < 8) { return kDeflateShortestMatch + place; }
  if (place == 28) { return kDeflateLongestMatch; }
  return kDeflateShortestMatch + ((4 + place % 4) << length_extra_bits(symbol));
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t least_distance(std::uint32_t symbol) noexcept {
  return symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << distance_extra_bits(symbol)) + 1;
}

// The number of extra bits of a symbol of the code for code lengths.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t run_extra_bits(std::uint32_t symbol) noexcept {
  return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

// The order in which lengths of the code for code lengths are stored: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t run_symbol_at(std::uint32_t place) noexcept {
  if (place < 3) { return 16 + place; }
  if (place == 3) { return 0; }
  std::uint32_t const step = (place - 4 + 1) / 2;  // 0 1 1 2 2 ...
  return place % 2 == 0 ? 8 + step : 8 - step;
}

// Operations of several threads on one word, between two barriers.
namespace together {

// A word that other threads may change at the same time: its old or its new value.
TERRAZZO_HOST_DEVICE inline std::uint16_t load(std::uint16_t const& from) noexcept {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint16_t const volatile&>(from);
#else
  return __atomic_load_n(&from, __ATOMIC_RELAXED);
#endif
}

TERRAZZO_HOST_DEVICE inline void store(std::uint16_t& to, std::uint16_t value) noexcept {
#if defined(__CUDA_ARCH__)
  static_cast<std::uint16_t volatile&>(to) = value;
#else
  __atomic_store_n(&to, value, __ATOMIC_RELAXED);
#endif
}

TERRAZZO_HOST_DEVICE inline void add(std::uint32_t& to, std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  atomicAdd(&to, value);
#else
  __atomic_fetch_add(&to, value, __ATOMIC_RELAXED);
#endif
}

// The number before 1 was added: each thread gets another one.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t take_number(std::uint32_t& from) noexcept {
#if defined(__CUDA_ARCH__)
  return atomicAdd(&from, 1U);
#else
  return __atomic_fetch_add(&from, 1U, __ATOMIC_RELAXED);
#endif
}

TERRAZZO_HOST_DEVICE inline void raise(std::uint32_t& to, std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  atomicMax(&to, value);
#else
  std::uint32_t before = __atomic_load_n(&to, __ATOMIC_RELAXED);
  while (before < value &&
         !__atomic_compare_exchange_n(&to, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}

TERRAZZO_HOST_DEVICE inline void lower(std::uint32_t& to, std::uint32_t value) noexcept {
#if defined(__CUDA_ARCH__)
  atomicMin(&to, value);
#else
  std::uint32_t before = __atomic_load_n(&to, __ATOMIC_RELAXED);
  while (value < before &&
         !__atomic_compare_exchange_n(&to, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}

TERRAZZO_HOST_DEVICE inline void set_bits(std::uint32_t& to, std::uint32_t bits) noexcept {
#if defined(__CUDA_ARCH__)
  atomicOr(&to, bits);
#else
  __atomic_fetch_or(&to, bits, __ATOMIC_RELAXED);
#endif
}

}  // namespace together

// Writes one thread's bits from a given place on, lowest bit first. REQUIRES: words that no thread has written are
// zeros.
class DeflateBits {
 public:
  TERRAZZO_HOST_DEVICE DeflateBits(std::uint32_t* words, std::uint32_t at_bit) noexcept
      : word_(words + at_bit / 32), count_(at_bit % 32) {}

  // At most 32 bits.
  TERRAZZO_HOST_DEVICE void put(std::uint32_t bits, std::uint32_t count) noexcept {
    waiting_ |= std::uint64_t{bits} << count_;
    count_ += count;
    if (count_ >= 32) {
      together::set_bits(*word_++, static_cast<std::uint32_t>(waiting_));
      waiting_ >>= 32;
      count_ -= 32;
    }
  }
  TERRAZZO_HOST_DEVICE void finish() noexcept {
    if (waiting_ != 0) { together::set_bits(*word_, static_cast<std::uint32_t>(waiting_)); }
  }

 private:
  std::uint32_t* word_;
  std::uint64_t waiting_ = 0;
  std::uint32_t count_;
};

}  // namespace terrazzo::coding
