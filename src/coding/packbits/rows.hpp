// SPDX-License-Identifier: Apache-2.0
//
// PackBits row by row for many threads at once, for host and device: the bytes of packbits_encode_row(), first counted,
// so that every thread knows the offset of its rows, then written.
#pragma once

#include "base/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

// The part of a tile that one thread encodes: a row, or several short rows of some hundred bytes in total.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t packbits_part_bytes(std::uint64_t row_bytes) noexcept {
  constexpr std::uint64_t kEnough = 512;
  return row_bytes < kEnough ? kEnough / row_bytes * row_bytes : row_bytes;
}

// Upper bound for a tile. Its last row may be shorter than the others.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t packbits_rows_bound(std::uint64_t tile_bytes,
                                                                               std::uint64_t row_bytes) noexcept {
  std::uint64_t const rest = tile_bytes % row_bytes;
  return tile_bytes + tile_bytes / row_bytes * ((row_bytes + 127) / 128) + (rest + 127) / 128;
}

struct PackBitsCount {
  std::uint32_t bytes = 0;

  TERRAZZO_HOST_DEVICE void repeat(std::uint32_t, std::byte) noexcept { bytes += 2; }
  TERRAZZO_HOST_DEVICE void literals(std::byte const*, std::uint32_t count) noexcept { bytes += 1 + count; }
};

struct PackBitsWrite {
  std::byte* out;

  TERRAZZO_HOST_DEVICE void repeat(std::uint32_t count, std::byte byte) noexcept {
    *out++ = static_cast<std::byte>((257 - count) & 0xFF);  // for one byte: 0, a literal
    *out++ = byte;
  }
  TERRAZZO_HOST_DEVICE void literals(std::byte const* from, std::uint32_t count) noexcept {
    *out++ = static_cast<std::byte>(count - 1);
    for (std::uint32_t i = 0; i < count; ++i) { *out++ = from[i]; }
  }
};

namespace packbits {

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t at_most_128(std::uint32_t count) noexcept {
  return count < 128 ? count : 128;
}

template <class Sink>
TERRAZZO_HOST_DEVICE void encode_row(std::byte const* in, std::uint32_t size, Sink& sink) noexcept {
  std::uint32_t at = 0;
  while (at < size) {
    std::byte const byte = in[at];
    std::uint32_t end = at + 1;
    while (end < size && in[end] == byte) { ++end; }
    if (end - at >= 2) {
      for (std::uint32_t part = 0; at < end; at += part) {
        part = at_most_128(end - at);
        sink.repeat(part, byte);
      }
      continue;
    }
    // Literals, up to three equal bytes. `equal` bytes before `end` are equal, including the last.
    std::uint32_t equal = 1;
    for (; end < size && equal < 3; ++end) {
      bool const same = end > at + 1 && in[end] == in[end - 1];
      equal = same ? equal + 1 : 1;
    }
    if (equal == 3) { end -= 3; }
    for (std::uint32_t part = 0; at < end; at += part) {
      part = at_most_128(end - at);
      sink.literals(in + at, part);
    }
  }
}

}  // namespace packbits

// Encodes the rows of one part: all have `row_bytes` except the last.
template <class Sink>
TERRAZZO_HOST_DEVICE void packbits_encode_rows(std::byte const* in, std::uint64_t size, std::uint64_t row_bytes,
                                               Sink& sink) noexcept {
  for (std::uint64_t row = 0; row < size; row += row_bytes) {
    std::uint64_t const left = size - row;
    packbits::encode_row(in + row, static_cast<std::uint32_t>(left < row_bytes ? left : row_bytes), sink);
  }
}

}  // namespace terrazzo::coding
