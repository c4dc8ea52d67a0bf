// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a block share while they make a compressed ZSTD block of a piece: in fast memory the codes and
// sums, in slow memory what there is one of for a position or a sequence.
#pragma once

#include "tile/deflate_code.hpp"
#include "tile/deflate_matches.hpp"
#include "tile/zstd_format.hpp"
#include "tile/zstd_fse.hpp"

#include <cstddef>

namespace terrazzo::tile {

inline constexpr std::uint32_t kZstdPieceBytes = kDeflatePieceBytes;
// Matches of three bytes are left to the literals: taken, rasters become 0.1 % (elevations) to 0.5 % longer.
inline constexpr std::uint32_t kZstdShortestTaken = 4;
// As long as the parse allows.
inline constexpr std::uint32_t kZstdLongestMatch = kDeflateSegmentBytes;
// Three bytes at least are one sequence.
inline constexpr std::uint32_t kZstdMostSequences = (kZstdPieceBytes / kZstdShortestMatch + 64) / 64 * 64;

// The four codes with states. The weights are those of the literals' Huffman code.
enum ZstdTable : std::uint32_t { kZstdLiteralLengths, kZstdOffsets, kZstdMatchLengths, kZstdWeights };
inline constexpr std::uint32_t kZstdTables = 4, kZstdSequenceTables = 3;

inline constexpr std::uint32_t kZstdMostCodeBits = 11;
inline constexpr std::uint32_t kZstdMostTreeBytes = 128;  // with the byte that tells the size
inline constexpr std::uint32_t kZstdTreeWords = kZstdMostTreeBytes / 4 + 2;
inline constexpr std::uint32_t kZstdStreams = 4;

// Slow memory for the piece that is being encoded.
struct ZstdPlaces {
  std::uint32_t* tokens;  // kTokenWords: DeflateTokens of positions; later the arrays that reused() gives
  std::uint8_t* literals;  // kZstdPieceBytes, the piece's literals in order; words may be written to it
  std::uint16_t* literal_lengths;  // of sequences, kZstdMostSequences each
  std::uint16_t* match_lengths;
  std::uint16_t* distances;  // less 1

  static constexpr std::uint32_t kTokenWords = kZstdPieceBytes;

  // Codes of a table, the last sequence's first, four a word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint8_t* codes(std::uint32_t table) const noexcept {
    return reinterpret_cast<std::uint8_t*>(tokens) + table * kZstdMostSequences;
  }
  // What FseTable::go() gave for them, two a word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint16_t* written(std::uint32_t table) const noexcept {
    return reinterpret_cast<std::uint16_t*>(codes(kZstdSequenceTables)) + table * kZstdMostSequences;
  }
  // Of sequences, the first one's first.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint16_t* offset_values() const noexcept {
    return written(kZstdSequenceTables);
  }
};
static_assert(kZstdMostSequences * (kZstdSequenceTables * 3 + 2) <= ZstdPlaces::kTokenWords * 4);
static_assert(kZstdMostSequences * kZstdSequenceTables % 4 == 0);

// Where things lie in the block's content, in bytes.
struct ZstdPlan {
  enum class Literals : std::uint32_t { raw = 0, repeated = 1, compressed = 2 };
  Literals literals;
  std::uint32_t literals_header_bytes, streams, tree_bytes;
  std::uint32_t stream_begin[kZstdStreams + 1];
  std::uint32_t sequences_begin;  // of the section
  std::uint32_t sequence_bits_begin;
  std::uint32_t bytes;  // of all
};

struct ZstdWork {
  DeflateCode<256> literals;
  std::uint32_t literal_sums[kDeflateThreads];  // of threads: what they count, later bits of literals
  std::uint32_t sequence_sums[kDeflateThreads];  // ... of sequences
  std::uint32_t counts[kZstdTables][kFseMostSymbols];
  union {
    DeflateTree tree;  // until the lengths of the literals' code are known
    FseTable tables[kZstdTables];
  };
  std::uint32_t tree_words[kZstdTreeWords];  // the description of the literals' code
  std::uint32_t tree_bytes;  // 0: it has none
  std::uint32_t final_states[kZstdSequenceTables];
  std::uint32_t stream_bits[kZstdStreams];
  std::uint32_t sequence_bits;
  std::uint32_t literal_count, sequence_count;
  std::uint32_t last_literal;  // the last symbol with a code, which need not occur
  std::uint32_t longest_code;  // of a literal
  ZstdPlan plan;
};

}  // namespace terrazzo::tile
