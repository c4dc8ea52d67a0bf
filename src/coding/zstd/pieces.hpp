// SPDX-License-Identifier: Apache-2.0
//
// A ZSTD frame made by many threads at once: the parts of the device's encoder, for host and device, so that the host's
// tests cover them.
//
// A tile is divided into pieces of kZstdPieceBytes, each of which becomes a block with its own codes: compressed, or
// one byte repeated, or raw if that is shorter. Matches refer to bytes before a piece, which are plain input, and no
// block uses codes or distances of another, so pieces are encoded in parallel. Blocks are whole bytes.
#pragma once

#include "coding/zstd/block.hpp"

#include <cstddef>

namespace terrazzo::coding {

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t zstd_piece_count(std::uint64_t tile_bytes) noexcept {
  return (tile_bytes + kZstdPieceBytes - 1) / kZstdPieceBytes;
}

// Like deflate_lanes(), over ZSTD's levels. With 1, 2 and 4 lanes, 512 px tiles of float32 with predictor 3 shrink to
// 0.557, 0.552 and 0.549 of their size (libzstd's levels 1, 3 and 6: 0.543, 0.537 and 0.535).
inline constexpr int kZstdFirstMiddleLevel = 4, kZstdFirstThoroughLevel = 10;
[[nodiscard]] constexpr std::uint32_t zstd_lanes(int level) noexcept {
  return level < kZstdFirstMiddleLevel ? 1 : level < kZstdFirstThoroughLevel ? 2 : 4;
}

// Upper bound for the frame of a tile.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t zstd_pieces_bound(std::uint64_t tile_bytes) noexcept {
  return tile_bytes + zstd_piece_count(tile_bytes) * kZstdBlockHeaderBytes + ZstdFrameHeader::kMostBytes;
}

// A block is compressed if that is shorter than the piece.
inline constexpr std::uint32_t kZstdPieceWords = (zstd_block_words(kZstdPieceBytes) + 3) / 4 * 4;
static_assert(kZstdPieceWords < kDeflateWindowWords, "a block is put together where the window was");

// True if all bytes in a thread's share of the piece equal its first byte.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline bool zstd_share_repeats(DeflateWindow const& window,
                                                                  std::uint32_t thread) noexcept {
  std::uint32_t const first = window.byte_at(kDeflateHistoryBytes);
  std::uint32_t const bytes = window.end - kDeflateHistoryBytes;
  std::uint32_t differ = 0;
  for (std::uint32_t i = thread; i < bytes / 4; i += kDeflateThreads) {
    differ |= window.words[kDeflateHistoryBytes / 4 + i] ^ first * 0x01010101U;
  }
  if (thread == 0) {
    for (std::uint32_t i = bytes / 4 * 4; i < bytes; ++i) {
      differ |= window.byte_at(kDeflateHistoryBytes + i) ^ first;
    }
  }
  return differ == 0;
}

// The block of such a piece: its header, and the byte.
inline constexpr std::uint32_t kZstdRepeatedBlockBytes = kZstdBlockHeaderBytes + 1;
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t zstd_repeated_block(DeflateWindow const& window,
                                                                            bool last) noexcept {
  std::uint32_t const header = zstd_block_header(ZstdBlockKind::repeated, window.end - kDeflateHistoryBytes, last);
  return header | window.byte_at(kDeflateHistoryBytes) << (8 * kZstdBlockHeaderBytes);
}

// The size of a raw piece, instead of its block's bytes.
inline constexpr std::uint32_t kZstdRaw = 0xFFFFFFFF;

// The bytes of a block in the frame, including its header.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t zstd_block_bytes(std::uint32_t size,
                                                                         std::uint32_t piece_bytes) noexcept {
  return size != kZstdRaw ? size : kZstdBlockHeaderBytes + piece_bytes;
}

// One piece's block in the frame.
struct ZstdBlockSource {
  std::byte const* input;  // input of the piece
  std::uint32_t input_bytes;
  std::uint32_t const* words;  // kZstdPieceWords, unless the piece is raw
  std::uint32_t size;  // bytes, or kZstdRaw
  bool last;
  std::uint64_t start;  // offset in the frame

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t begin() const noexcept { return start; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bytes() const noexcept {
    return zstd_block_bytes(size, input_bytes);
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t byte_at(std::uint32_t i) const noexcept {
    if (size != kZstdRaw) { return words[i / 4] >> (i % 4 * 8) & 0xFFU; }
    if (i < kZstdBlockHeaderBytes) {
      return zstd_block_header(ZstdBlockKind::raw, input_bytes, last) >> (8 * i) & 0xFFU;
    }
    return static_cast<std::uint32_t>(input[i - kZstdBlockHeaderBytes]);
  }
  // Four bytes of the block, the first lowest.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word_at(std::uint32_t i) const noexcept {
    if (size == kZstdRaw) { return byte_at(i) | byte_at(i + 1) << 8 | byte_at(i + 2) << 16 | byte_at(i + 3) << 24; }
    std::uint32_t const shift = i % 4 * 8;
    return shift == 0 ? words[i / 4] : words[i / 4] >> shift | words[i / 4 + 1] << (32 - shift);
  }
};

}  // namespace terrazzo::coding
