// SPDX-License-Identifier: Apache-2.0
//
// State shared by the threads of a block while they compress a piece to a ZSTD block: codes and
// sums in fast memory, arrays with one entry per position or sequence in slow memory.
#pragma once

#include "coding/deflate/code.hpp"
#include "coding/deflate/matches.hpp"
#include "coding/zstd/format.hpp"
#include "coding/zstd/fse.hpp"

#include <cstddef>

namespace terrazzo::coding {

inline constexpr std::uint32_t kZstdPieceBytes = kDeflatePieceBytes;
// Matches of three bytes are coded as literals: as matches, they would make rasters 0.1 % (elevations) to 0.5 % longer.
inline constexpr std::uint32_t kZstdShortestTaken = 4;
// The longest match of the parse.
inline constexpr std::uint32_t kZstdLongestMatch = kDeflateSegmentBytes;
// A sequence has at least three bytes.
inline constexpr std::uint32_t kZstdMostSequences = (kZstdPieceBytes / kZstdShortestMatch + 64) / 64 * 64;

// The four codes with states. The weights are those of the literals' Huffman code.
enum ZstdTable : std::uint32_t { kZstdLiteralLengths, kZstdOffsets, kZstdMatchLengths, kZstdWeights };
inline constexpr std::uint32_t kZstdTables = 4, kZstdSequenceTables = 3;

inline constexpr std::uint32_t kZstdMostCodeBits = 11;
inline constexpr std::uint32_t kZstdMostTreeBytes = 128;  // including the byte for the size
inline constexpr std::uint32_t kZstdTreeWords = kZstdMostTreeBytes / 4 + 2;
inline constexpr std::uint32_t kZstdStreams = 4;

// Slow memory for the piece that is being encoded.
struct ZstdPlaces {
  std::uint32_t* tokens;  // kTokenWords: tokens of positions; later the arrays that reused() returns
  std::uint8_t* literals;  // kZstdPieceBytes, the piece's literals in order; words may be written to it
  std::uint16_t* literal_lengths;  // per sequence, kZstdMostSequences each
  std::uint16_t* match_lengths;
  std::uint16_t* distances;  // minus 1

  static constexpr std::uint32_t kTokenWords = kZstdPieceBytes;

  // Codes of a table, from the last sequence to the first, four per word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint8_t* codes(std::uint32_t table) const noexcept {
    return reinterpret_cast<std::uint8_t*>(tokens) + table * kZstdMostSequences;
  }
  // Results of FseTable::go() for them, two per word.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint16_t* written(std::uint32_t table) const noexcept {
    return reinterpret_cast<std::uint16_t*>(codes(kZstdSequenceTables)) + table * kZstdMostSequences;
  }
  // Per sequence, in order.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint16_t* offset_values() const noexcept {
    return written(kZstdSequenceTables);
  }
};
static_assert(kZstdMostSequences * (kZstdSequenceTables * 3 + 2) <= ZstdPlaces::kTokenWords * 4);
static_assert(kZstdMostSequences * kZstdSequenceTables % 4 == 0);

// Offsets of the parts in the block's content, in bytes.
struct ZstdPlan {
  enum class Literals : std::uint32_t { raw = 0, repeated = 1, compressed = 2 };
  Literals literals;
  std::uint32_t literals_header_bytes, streams, tree_bytes;
  std::uint32_t stream_begin[kZstdStreams + 1];
  std::uint32_t sequences_begin;  // start of the section
  std::uint32_t sequence_bits_begin;
  std::uint32_t bytes;  // total
};

struct ZstdWork {
  DeflateCode<256> literals;
  std::uint32_t literal_sums[kDeflateThreads];  // per thread: its counts, later bits of literals
  std::uint32_t sequence_sums[kDeflateThreads];  // per thread: bits of sequences
  std::uint32_t counts[kZstdTables][kFseMostSymbols];
  union {
    DeflateTree tree;  // until the lengths of the literals' code are known
    FseTable tables[kZstdTables];
  };
  std::uint32_t tree_words[kZstdTreeWords];  // the description of the literals' code
  std::uint32_t tree_bytes;  // 0: no description
  std::uint32_t final_states[kZstdSequenceTables];
  std::uint32_t stream_bits[kZstdStreams];
  std::uint32_t sequence_bits;
  std::uint32_t literal_count, sequence_count;
  std::uint32_t last_literal;  // the last symbol with a code, which may not occur
  std::uint32_t longest_code;  // longest code of a literal
  ZstdPlan plan;
};

}  // namespace terrazzo::coding
