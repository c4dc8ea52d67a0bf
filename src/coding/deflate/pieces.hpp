// SPDX-License-Identifier: Apache-2.0
//
// Deflate in a zlib frame made by many threads at once: the parts of the device's encoder, for host and device, so that
// the host's tests cover them.
//
// A tile is divided into pieces of kDeflatePieceBytes, each of which becomes a Deflate block with its own codes, or a
// stored block if that is shorter. Matches refer to bytes before a piece, which are plain input, so pieces are encoded
// in parallel; their bits are joined. A stored block begins at a byte, so the end of a piece depends on its start, and
// the starts of a tile's pieces are computed one after the other.
#pragma once

#include "coding/deflate/code.hpp"
#include "coding/deflate/matches.hpp"

#include <cstddef>

namespace terrazzo::coding {

inline constexpr std::uint32_t kZlibHeader = 0x9C78;  // 32 KiB of window, no dictionary; the first byte lowest

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t deflate_piece_count(std::uint64_t tile_bytes) noexcept {
  return (tile_bytes + kDeflatePieceBytes - 1) / kDeflatePieceBytes;
}

// A stored block: 3 bits, up to 7 padding bits, two lengths of 16 bits, the bytes.
inline constexpr std::uint32_t kStoredHeaderBytes = 4;

// Upper bound for the stream of a tile, frame included.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t deflate_pieces_bound(std::uint64_t tile_bytes) noexcept {
  return tile_bytes + deflate_piece_count(tile_bytes) * (kStoredHeaderBytes + 2) + kZlibHeaderBytes + kZlibTailBytes;
}

// A block with codes is used if it is at most as long as a stored one without padding.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t deflate_piece_most_bits(std::uint32_t bytes) noexcept {
  return 3 + 8 * (kStoredHeaderBytes + bytes);
}
// The words for the bits of a piece, and one word of zeros after them.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t deflate_words(std::uint32_t bits) noexcept {
  return (bits + 31) / 32 + 1;
}
inline constexpr std::uint32_t kDeflatePieceWords =
    (deflate_words(deflate_piece_most_bits(kDeflatePieceBytes)) + 3) / 4 * 4;
static_assert(kDeflatePieceWords <= kDeflateWindowWords, "bits are put together where the window was");

// The size of a stored piece, instead of its number of bits.
inline constexpr std::uint32_t kDeflateStored = 0xFFFFFFFF;

// The end of a piece that begins at bit `start` of the stream.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint64_t deflate_piece_end(std::uint64_t start, std::uint32_t size,
                                                                          std::uint32_t bytes) noexcept {
  if (size != kDeflateStored) { return start + size; }
  return (start + 3 + 7) / 8 * 8 + std::uint64_t{8} * (kStoredHeaderBytes + bytes);
}

// The size of piece `piece` of a tile; 0 after the tile's end.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t deflate_piece_bytes(std::uint64_t tile_bytes,
                                                                            std::uint64_t piece) noexcept {
  std::uint64_t const begin = piece * kDeflatePieceBytes;
  if (begin >= tile_bytes) { return 0; }
  std::uint64_t const left = tile_bytes - begin;
  return left < kDeflatePieceBytes ? static_cast<std::uint32_t>(left) : kDeflatePieceBytes;
}

TERRAZZO_HOST_DEVICE inline void count_token(DeflateCodes& codes, DeflateToken token) noexcept {
  if (token.covered()) { return; }
  if (token.is_literal()) { return together::add(codes.literals.counts[token.word], 1); }
  together::add(codes.literals.counts[kDeflateFirstLength + length_symbol(token.length()).symbol], 1);
  together::add(codes.distances.counts[distance_symbol(token.distance()).symbol], 1);
}

// The bits of a token, at most 48, and their number: bits | count << 56.
struct DeflateTokenBits {
  std::uint64_t word;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(word >> kCountShift);
  }
  TERRAZZO_HOST_DEVICE void put(DeflateBits& out) const noexcept {
    std::uint32_t const all = count();
    out.put(static_cast<std::uint32_t>(word), all < 32 ? all : 32);
    if (all > 32) { out.put(static_cast<std::uint32_t>(word >> 32) & 0xFFFFU, all - 32); }
  }

  static constexpr std::uint32_t kCountShift = 56;
};

[[nodiscard]] TERRAZZO_HOST_DEVICE inline DeflateTokenBits token_bits(DeflateCodes const& codes,
                                                                      DeflateToken token) noexcept {
  std::uint64_t bits = 0;
  std::uint32_t count = 0;
  auto const add = [&](std::uint32_t code, DeflateSymbol const& symbol) {
    std::uint32_t const code_bits = code >> 16;
    bits |= std::uint64_t{(code & 0xFFFFU) | symbol.extra << code_bits} << count;
    count += code_bits + symbol.extra_bits;
  };
  if (token.is_literal()) {
    std::uint32_t const code = codes.literals.codes[token.word];
    bits = code & 0xFFFFU;
    count = code >> 16;
  } else if (!token.covered()) {
    DeflateSymbol const length = length_symbol(token.length()), distance = distance_symbol(token.distance());
    add(codes.literals.codes[kDeflateFirstLength + length.symbol], length);
    add(codes.distances.codes[distance.symbol], distance);
  }
  return {bits | std::uint64_t{count} << DeflateTokenBits::kCountShift};
}

// A tile's stream, without the frame, joined from its pieces.
struct DeflateJoin {
  std::byte const* input;  // input of the tile
  std::uint64_t input_bytes;
  std::uint32_t const* words;  // words of the tile's first piece; the others follow at multiples of kDeflatePieceWords
  std::uint32_t const* sizes;  // per piece: bits, or kDeflateStored
  std::uint64_t const* start_bits;  // per piece, and the stream's end
  std::uint64_t piece_count;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t stream_bytes() const noexcept {
    return (start_bits[piece_count] + 7) / 8;
  }
  // The first byte of the stream that begins in piece `piece`.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t first_byte(std::uint64_t piece) const noexcept {
    return (start_bits[piece] + 7) / 8;
  }

  // Four bytes of the stream from byte `at` on, which begins in piece `piece`. Zeros after the end.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word_at(std::uint64_t at, std::uint64_t piece) const noexcept {
    std::uint64_t const begin = at * 8;
    auto const offset = static_cast<std::uint32_t>(begin - start_bits[piece]);
    std::uint32_t value = bits_from(piece, offset);
    // The last piece may be shorter than a word, so a word may contain three pieces.
    for (++piece; piece < piece_count && start_bits[piece] < begin + 32; ++piece) {
      value |= bits_from(piece, 0) << static_cast<std::uint32_t>(start_bits[piece] - begin);
    }
    return value;
  }

 private:
  // 32 bits of a piece from its bit `offset` on, zeros after its end.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bits_from(std::uint64_t piece, std::uint32_t offset) const noexcept {
    if (sizes[piece] == kDeflateStored) { return stored_bits(piece, offset); }
    std::uint32_t const* const from = words + piece * kDeflatePieceWords + offset / 32;
    std::uint32_t const shift = offset % 32;
    return shift == 0 ? from[0] : from[0] >> shift | from[1] << (32 - shift);
  }

  // The block's bytes are whole bytes of the stream; only the bits before them are not.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t stored_bits(std::uint64_t piece,
                                                               std::uint32_t offset) const noexcept {
    std::uint64_t const start = start_bits[piece];
    std::uint32_t const bytes = deflate_piece_bytes(input_bytes, piece);
    std::uint32_t const head_bits = static_cast<std::uint32_t>((start + 3 + 7) / 8 * 8 - start);  // 3 to 10
    std::uint64_t value = 0;
    if (offset == 0) { value = piece + 1 == piece_count ? 1 : 0; }  // 3 bits: last or not, and the block type, 0
    // The byte of the block's content in which the 32 bits begin, and the bits before it.
    std::uint32_t const ahead = offset < head_bits ? head_bits - offset : 0;
    std::uint32_t const first = offset < head_bits ? 0 : (offset - head_bits) / 8;
    std::uint32_t const lengths = bytes | (bytes ^ 0xFFFFU) << 16;
    std::byte const* const from = input + piece * kDeflatePieceBytes;
    for (std::uint32_t i = 0; ahead + 8 * i < 32; ++i) {
      std::uint32_t const at = first + i;
      std::uint32_t byte = 0;
      if (at < kStoredHeaderBytes) {
        byte = lengths >> (8 * at) & 0xFFU;
      } else if (at < kStoredHeaderBytes + bytes) {
        byte = static_cast<std::uint32_t>(from[at - kStoredHeaderBytes]);
      }
      value |= std::uint64_t{byte} << (ahead + 8 * i);
    }
    return static_cast<std::uint32_t>(value);
  }
};

// The bytes of a tile's output that begin in one piece.
class DeflatePieceSource {
 public:
  TERRAZZO_HOST_DEVICE DeflatePieceSource(DeflateJoin const& join, std::uint64_t piece) noexcept
      : join_(join), piece_(piece), first_(join.first_byte(piece)) {}

  [[nodiscard]] TERRAZZO_HOST_DEVICE DeflateJoin const& join() const noexcept { return join_; }
  // Offset in the output, after the frame's header.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t begin() const noexcept { return kZlibHeaderBytes + first_; }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bytes() const noexcept {
    return static_cast<std::uint32_t>(join_.first_byte(piece_ + 1) - first_);
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t byte_at(std::uint32_t i) const noexcept {
    return word_at(i) & 0xFFU;
  }
  // Four bytes, the first lowest.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word_at(std::uint32_t i) const noexcept {
    return join_.word_at(first_ + i, piece_);
  }

 private:
  DeflateJoin join_;
  std::uint64_t piece_, first_;
};

}  // namespace terrazzo::coding
