// SPDX-License-Identifier: Apache-2.0
//
// Codes of ZSTD's sequences (RFC 8878, 3.1.1.3.2.1.1) by arithmetic instead of tables, for host and device, and the
// headers of frames and blocks.
#pragma once

#include "coding/deflate/format.hpp"

namespace terrazzo::coding {

// A number in a sequence: a code, and its extra bits.
struct ZstdCode {
  std::uint32_t code, extra, extra_bits;
};

inline constexpr std::uint32_t kZstdShortestMatch = 3;
// The numbers of codes; those of offsets end at 31, but no offset here needs more than 16 bits.
inline constexpr std::uint32_t kZstdLiteralLengthCodes = 36, kZstdMatchLengthCodes = 53, kZstdOffsetCodes = 16;

namespace zstd_code {

// The highest bit gives the code, the others are extra bits.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdCode by_highest_bit(std::uint32_t value, std::uint32_t first) noexcept {
  std::uint32_t const bits = bits_of(value) - 1;
  return {first + bits, value & ((1U << bits) - 1), bits};
}
// Codes of equal width from `value` = `from` on.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdCode by_steps(std::uint32_t value, std::uint32_t from,
                                                            std::uint32_t first, std::uint32_t bits) noexcept {
  return {first + ((value - from) >> bits), (value - from) & ((1U << bits) - 1), bits};
}

}  // namespace zstd_code

[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdCode zstd_literal_length_code(std::uint32_t length) noexcept {
  using zstd_code::by_steps;
  if (length < 16) { return {length, 0, 0}; }
  if (length < 24) { return by_steps(length, 16, 16, 1); }
  if (length < 32) { return by_steps(length, 24, 20, 2); }
  if (length < 48) { return by_steps(length, 32, 22, 3); }
  if (length < 64) { return by_steps(length, 48, 24, 4); }
  return zstd_code::by_highest_bit(length, 19);
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdCode zstd_match_length_code(std::uint32_t length) noexcept {
  using zstd_code::by_steps;
  std::uint32_t const more = length - kZstdShortestMatch;
  if (more < 32) { return {more, 0, 0}; }
  if (more < 40) { return by_steps(more, 32, 32, 1); }
  if (more < 48) { return by_steps(more, 40, 36, 2); }
  if (more < 64) { return by_steps(more, 48, 38, 3); }
  if (more < 96) { return by_steps(more, 64, 40, 4); }
  if (more < 128) { return by_steps(more, 96, 42, 5); }
  return zstd_code::by_highest_bit(more, 36);
}

// The code of an offset value: 1 to 3 are earlier distances, others are the distance plus 3.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline ZstdCode zstd_offset_code(std::uint32_t value) noexcept {
  return zstd_code::by_highest_bit(value, 0);
}

// Blocks (3.1.1.2): 3 bytes before the content.
inline constexpr std::uint32_t kZstdBlockHeaderBytes = 3;
enum class ZstdBlockKind : std::uint32_t { raw = 0, repeated = 1, compressed = 2 };

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t zstd_block_header(ZstdBlockKind kind, std::uint32_t bytes,
                                                                             bool last) noexcept {
  return (last ? 1U : 0U) | static_cast<std::uint32_t>(kind) << 1 | bytes << 3;
}

// A frame of one segment with its content size (3.1.1.1), without a checksum: magic, descriptor, size.
struct ZstdFrameHeader {
  static constexpr std::uint32_t kMostBytes = 4 + 1 + 8;
  static constexpr std::uint32_t kMagic = 0xFD2FB528;
  std::uint64_t content_bytes;

  // The size of the size: 1, 2, 4 or 8 bytes by code 0 to 3.
  [[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t size_code() const noexcept {
    return content_bytes < 256 ? 0 : content_bytes < 256 + 65'536 ? 1 : content_bytes <= 0xFFFFFFFF ? 2 : 3;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t bytes() const noexcept {
    return 4 + 1 + (1U << size_code());
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t byte_at(std::uint32_t i) const noexcept {
    if (i < 4) { return kMagic >> (8 * i) & 0xFFU; }
    if (i == 4) { return size_code() << 6 | 0x20U; }
    std::uint64_t const told = size_code() == 1 ? content_bytes - 256 : content_bytes;
    return static_cast<std::uint32_t>(told >> (8 * (i - 5))) & 0xFFU;
  }
};

}  // namespace terrazzo::coding
