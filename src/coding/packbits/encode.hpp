// SPDX-License-Identifier: Apache-2.0
//
// Encodes PackBits (TIFF 6.0, section 9). Rows are encoded one by one: the specification forbids runs across a row's
// end, and some decoders rely on it.
#pragma once

#include "tile/byte_swap.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace terrazzo::coding {

// Upper bound for a row of `in_bytes`: one count per 128 bytes.
[[nodiscard]] constexpr std::uint64_t packbits_encode_bound(std::uint64_t in_bytes) noexcept {
  return in_bytes + (in_bytes + 127) / 128;
}

namespace packbits {

inline constexpr std::size_t kLongestRun = 128;

// The index of the first zero byte, from the lowest address; 8 if there is none.
[[nodiscard]] inline std::size_t first_zero_byte(std::uint64_t word) noexcept {
  if constexpr (std::endian::native == std::endian::big) { word = tile::byte_swapped(word); }
  // Borrows can wrongly flag bytes above the first zero, never below it.
  std::uint64_t const flags = (word - 0x0101'0101'0101'0101U) & ~word & 0x8080'8080'8080'8080U;
  return static_cast<std::size_t>(std::countr_zero(flags)) / 8;
}

// The number of bytes from `from` on that equal the first one; at least 1.
[[nodiscard]] inline std::size_t run_length(std::byte const* from, std::byte const* end) noexcept {
  std::uint64_t const pattern = static_cast<std::uint64_t>(*from) * 0x0101'0101'0101'0101U;
  std::byte const* at = from + 1;
  for (; end - at >= 8; at += 8) {
    std::uint64_t const difference = tile::load_unaligned<std::uint64_t>(at) ^ pattern;
    if (difference != 0) {
      int const zeros =
          std::endian::native == std::endian::little ? std::countr_zero(difference) : std::countl_zero(difference);
      return static_cast<std::size_t>(at - from) + static_cast<std::size_t>(zeros) / 8;
    }
  }
  while (at != end && *at == *from) { ++at; }
  return static_cast<std::size_t>(at - from);
}

// The start of three equal bytes, or `end`. Two equal bytes do not justify ending a run of literals.
[[nodiscard]] inline std::byte const* find_three(std::byte const* at, std::byte const* end) noexcept {
  for (; end - at >= 10; at += 8) {
    auto const here = tile::load_unaligned<std::uint64_t>(at);
    std::size_t const hit = first_zero_byte((here ^ tile::load_unaligned<std::uint64_t>(at + 1)) |
                                            (here ^ tile::load_unaligned<std::uint64_t>(at + 2)));
    if (hit < 8) { return at + hit; }
  }
  for (; end - at >= 3; ++at) {
    if (at[0] == at[1] && at[1] == at[2]) { return at; }
  }
  return end;
}

}  // namespace packbits

// `out` has at least packbits_encode_bound(in_bytes) bytes. Returns the number of bytes written.
[[nodiscard]] inline std::size_t packbits_encode_row(std::byte const* in, std::size_t in_bytes,
                                                     std::byte* out) noexcept {
  std::byte const* at = in;
  std::byte const* const end = in + in_bytes;
  std::byte* to = out;
  while (at != end) {
    // Pairs justify a run if they interrupt no literals.
    std::size_t run = packbits::run_length(at, end);
    if (run >= 2) {
      while (run != 0) {
        std::size_t const part = std::min(run, packbits::kLongestRun);
        *to++ = static_cast<std::byte>((257 - part) & 0xFF);  // for one byte: 0, a literal
        *to++ = *at;
        at += part;
        run -= part;
      }
      continue;
    }
    std::byte const* const stop = packbits::find_three(at + 1, end);
    while (at != stop) {
      std::size_t const part = std::min(static_cast<std::size_t>(stop - at), packbits::kLongestRun);
      *to++ = static_cast<std::byte>(part - 1);
      std::memcpy(to, at, part);
      to += part;
      at += part;
    }
  }
  return static_cast<std::size_t>(to - out);
}

}  // namespace terrazzo::coding
