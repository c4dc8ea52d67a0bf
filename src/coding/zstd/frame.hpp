// SPDX-License-Identifier: Apache-2.0
//
// Checks a zstd stream without decoding it (RFC 8878): it must be one plain frame whose headers agree with the tile.
// For decoders that trust their input, or that accept plain frames only: another decoder gets streams that fail. Costs
// a few loads per block. The per-tile function runs on host and device.
#pragma once

#include "base/host_device.hpp"
#include "coding/zstd/format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::coding {

inline constexpr std::uint64_t kZstdMaxBlockBytes = 128 * 1024;
// Larger windows are refused (the host codec's rule: that of level 19, or the size that the tile can use).
inline constexpr std::uint64_t kZstdGrantedWindowBytes = 8 * 1024 * 1024;

namespace zstd_detail {

// Little-endian number of `count` bytes at `at`; the caller has checked the bounds.
TERRAZZO_HOST_DEVICE inline std::uint64_t number(std::byte const* data, std::uint64_t at, unsigned count) noexcept {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) { value |= static_cast<std::uint64_t>(data[at + i]) << (8 * i); }
  return value;
}

}  // namespace zstd_detail

// The header of a block (3.1.1.2).
struct ZstdBlockHeader {
  static constexpr ZstdBlockKind kReserved{3};
  ZstdBlockKind kind;
  bool is_last;
  std::uint64_t bytes;  // decoded size of a raw or repeated block, stored size of a compressed one

  // Returns false if `size` is too short for a header.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read(std::byte const* data, std::uint64_t size) noexcept {
    if (size < kZstdBlockHeaderBytes) { return false; }
    std::uint64_t const fields = zstd_detail::number(data, 0, kZstdBlockHeaderBytes);
    kind = static_cast<ZstdBlockKind>(fields >> 1 & 3);
    is_last = (fields & 1) != 0;
    bytes = fields >> 3;
    return true;
  }
  // Bytes after the header.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t stored() const noexcept {
    return kind == ZstdBlockKind::repeated ? 1 : bytes;
  }
};

// The header of the literals of a compressed block (3.1.1.3.1.1).
struct ZstdLiteralsHeader {
  enum class Kind : std::uint8_t { raw = 0, repeated = 1, coded = 2, coded_by_last_tree = 3 };
  Kind kind;
  bool is_one_stream;  // coded literals that are not in four streams
  std::uint64_t bytes;  // size of the header
  std::uint64_t literals;
  std::uint64_t stored;  // bytes after the header

  // Returns false if the block is too short for a header.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read(std::byte const* block, std::uint64_t size) noexcept {
    if (size == 0) { return false; }
    unsigned const first = static_cast<unsigned>(block[0]), format = first >> 2 & 3;
    kind = static_cast<Kind>(first & 3);
    is_one_stream = is_coded() && format == 0;
    if (is_coded()) {
      bytes = format < 2 ? 3 : format + 2;
    } else {
      bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
    }
    if (size < bytes) { return false; }
    std::uint64_t const fields = zstd_detail::number(block, 0, static_cast<unsigned>(bytes));
    if (is_coded()) {
      unsigned const bits = format < 2 ? 10 : format == 2 ? 14 : 18;
      std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
      literals = fields >> 4 & mask;
      stored = fields >> (4 + bits) & mask;
    } else {
      literals = fields >> (bytes == 1 ? 3 : 4);
      stored = kind == Kind::raw ? literals : 1;
    }
    return true;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_coded() const noexcept {
    return kind == Kind::coded || kind == Kind::coded_by_last_tree;
  }
  // True if the literals fit in a block of `size` bytes, followed by the sequences, which have at least one byte.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool fits(std::uint64_t size, std::uint64_t most_literals) const noexcept {
    return literals <= most_literals && bytes + stored < size;
  }
};

// The offset of the first block of a frame, and the largest size of a block.
struct ZstdFrameStart {
  std::uint64_t bytes;  // size of all headers before the first block; 0: the frame is not plain
  std::uint64_t most_block_bytes;
};

// The start of a plain frame: no dictionary, a window within bounds, a content size that is absent or equals
// `expected`, no checksum.
TERRAZZO_HOST_DEVICE inline ZstdFrameStart plain_zstd_frame_start(std::byte const* data, std::uint64_t size,
                                                                  std::uint64_t expected) noexcept {
  using zstd_detail::number;
  constexpr std::uint64_t kMagicBytes = 4;
  constexpr ZstdFrameStart kNone{0, 0};
  if (size < kMagicBytes + 1 || number(data, 0, 4) != ZstdFrameHeader::kMagic) { return kNone; }
  unsigned const descriptor = static_cast<unsigned>(data[kMagicBytes]);
  bool const single_segment = (descriptor & 0x20) != 0;
  if ((descriptor & 0x08) != 0) { return kNone; }  // reserved
  if ((descriptor & 0x04) != 0) { return kNone; }  // a checksum: left to libzstd, which verifies it
  unsigned const dictionary_bytes = (descriptor & 3) == 3 ? 4 : descriptor & 3;
  unsigned const size_code = descriptor >> 6;
  unsigned const size_bytes = size_code == 0 ? (single_segment ? 1 : 0) : 1u << size_code;
  std::uint64_t at = kMagicBytes + 1;
  if (size - at < (single_segment ? 0u : 1u) + dictionary_bytes + size_bytes) { return kNone; }
  std::uint64_t window = expected;
  if (!single_segment) {
    unsigned const window_code = static_cast<unsigned>(data[at++]);
    std::uint64_t const base = std::uint64_t{1} << (10 + (window_code >> 3));
    window = base + base / 8 * (window_code & 7);
    std::uint64_t const granted = 2 * expected > kZstdGrantedWindowBytes ? 2 * expected : kZstdGrantedWindowBytes;
    if (window > granted) { return kNone; }
  }
  if (number(data, at, dictionary_bytes) != 0) { return kNone; }
  at += dictionary_bytes;
  if (size_bytes != 0) {
    std::uint64_t const content = number(data, at, size_bytes) + (size_bytes == 2 ? 256 : 0);
    if (content != expected) { return kNone; }
    at += size_bytes;
  }
  return {at, window < kZstdMaxBlockBytes ? window : kZstdMaxBlockBytes};
}

// True if `data[0, size)` is exactly one plain frame: blocks of known types within the data whose sizes can add up to
// `expected`, and nothing after them. Skippable frames, several frames and surplus data are rejected.
TERRAZZO_HOST_DEVICE inline bool is_plausible_zstd_frame(std::byte const* data, std::uint64_t size,
                                                         std::uint64_t expected) noexcept {
  ZstdFrameStart const start = plain_zstd_frame_start(data, size, expected);
  if (start.bytes == 0) { return false; }
  std::uint64_t at = start.bytes;
  std::uint64_t const max_block_bytes = start.most_block_bytes;
  std::uint64_t certain = 0;  // decoded bytes of raw and repeated blocks
  std::uint64_t possible = 0;  // upper bound that includes compressed blocks
  bool has_tree = false;  // an earlier block had one
  for (bool is_last = false; !is_last;) {
    ZstdBlockHeader block;
    if (!block.read(data + at, size - at)) { return false; }
    at += kZstdBlockHeaderBytes;
    is_last = block.is_last;
    bool const is_known = block.kind != ZstdBlockHeader::kReserved;
    if (!is_known || block.bytes > max_block_bytes || block.stored() > size - at) { return false; }
    if (block.kind == ZstdBlockKind::compressed) {
      ZstdLiteralsHeader literals;
      if (!literals.read(data + at, block.bytes) || !literals.fits(block.bytes, max_block_bytes)) { return false; }
      bool const has_no_tree = literals.kind == ZstdLiteralsHeader::Kind::coded_by_last_tree && !has_tree;
      if (literals.is_coded() && (literals.stored == 0 || has_no_tree)) { return false; }
      has_tree = has_tree || literals.is_coded();
      possible += max_block_bytes;
    } else {
      certain += block.bytes;
      possible += block.bytes;
    }
    at += block.stored();
  }
  return certain <= expected && expected <= possible && size == at;
}

// Checks a tile in host memory.
[[nodiscard]] bool zstd_frame_is_plausible(std::span<std::byte const> tile, std::uint64_t expected_bytes) noexcept;

}  // namespace terrazzo::coding
