// SPDX-License-Identifier: Apache-2.0
//
// The first half of encoders that divide tiles into pieces, one block per piece: the window in shared memory, the best
// match of every position (coding/deflate/matches.hpp), and a parse by each warp. Keys and tokens are in global memory,
// which the L2 cache holds.
#pragma once

#include "coding/deflate/code.hpp"
#include "coding/deflate/matches.hpp"
#include "coding/deflate/pieces.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu::pieces {

inline constexpr std::uint32_t kThreads = coding::kDeflateThreads;
inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
inline constexpr std::uint32_t kAll = 0xFFFFFFFF;
inline constexpr std::uint32_t kBlocksAMultiprocessor =
    4;  // of the newest devices, as registers and shared memory allow
inline constexpr std::uint32_t kMostBlocks = 640;  // more than any device runs at a time
static_assert(kWarps * coding::kDeflateSegmentBytes == coding::kDeflatePieceBytes, "a warp parses a segment");

inline std::uint64_t block_count(std::uint64_t items) noexcept { return items < kMostBlocks ? items : kMostBlocks; }

// The threads of a block and their barrier.
struct BlockThreads {
  template <class Step>
  TERRAZZO_HOST_DEVICE void each(Step const& step) const {
#if defined(__CUDA_ARCH__)
    step(threadIdx.x);
    __syncthreads();
#else
    (void)step;
#endif
  }
};

struct Piece {
  std::uint64_t item;  // index among all pieces of a batch, with equal counts per tile
  std::uint64_t tile, index;
  std::uint64_t tile_bytes;
  std::uint32_t bytes;  // 0: the tile is shorter

  __device__ Piece(tile::EncodeBatch const& batch, std::uint64_t pieces_a_tile, std::uint64_t which)
      : item(which),
        tile(item / pieces_a_tile),
        index(item % pieces_a_tile),
        tile_bytes(batch.input_sizes[tile]),
        bytes(coding::deflate_piece_bytes(tile_bytes, index)) {}
  [[nodiscard]] __device__ bool last() const { return (index + 1) * coding::kDeflatePieceBytes >= tile_bytes; }
  [[nodiscard]] __device__ bool has_history() const { return index != 0; }

  [[nodiscard]] __device__ coding::DeflateWindow window(std::uint32_t const* words) const {
    return {.words = words,
            .oldest = has_history() ? 0 : coding::kDeflateHistoryBytes,
            .end = coding::kDeflateHistoryBytes + bytes};
  }
};

// Loads the piece and the bytes before it. Fills the rest with zeros: reads past the end must be deterministic.
__device__ inline void load_window(std::uint32_t* words, Piece const& piece, std::byte const* in) {
  std::uint32_t const history = piece.has_history() ? coding::kDeflateHistoryBytes : 0;
  std::byte const* const from = in - history;
  auto* const window = reinterpret_cast<std::byte*>(words) + coding::kDeflateHistoryBytes - history;
  std::uint32_t const total = history + piece.bytes;
  std::uint32_t whole = 0;
  if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    whole = total / 16 * 16;
    for (std::uint32_t i = threadIdx.x; i < whole / 16; i += kThreads) {
      reinterpret_cast<uint4*>(window)[i] = reinterpret_cast<uint4 const*>(from)[i];
    }
  }
  std::uint32_t const end = total / 16 * 16 + coding::kDeflateWindowTail;
  for (std::uint32_t i = whole + threadIdx.x; i < end; i += kThreads) {
    window[i] = i < total ? from[i] : std::byte{0};
  }
}

__device__ inline void clear_slots(std::uint32_t* slots) {
  for (std::uint32_t i = threadIdx.x; i < coding::kDeflateSlots; i += kThreads) { slots[i] = 0; }
}

// Writes the best match of every position, of at least kShortest bytes, to `keys`.
template <std::uint32_t kLanes, std::uint32_t kShortest>
__device__ void find_matches(std::uint32_t* slots, coding::DeflateWindow const& window, std::uint32_t* keys) {
  using Table = coding::DeflateTable<kLanes>;
  for (std::uint32_t i = window.oldest + threadIdx.x; i < coding::kDeflateHistoryBytes; i += kThreads) {
    Table::insert(slots, Table::bucket_of(window.word_at(i)), i);
  }
  __syncthreads();
  std::uint32_t const lane = threadIdx.x % kLanes;
  for (std::uint32_t step = coding::kDeflateHistoryBytes; step < window.end; step += Table::kStep) {
    std::uint32_t const position = step + threadIdx.x / kLanes;
    bool const inside = position < window.end;
    std::uint32_t key = 0, bucket = 0;
    if (inside) {
      coding::DeflateLane<kLanes, kShortest> const look(window, position, lane);
      bucket = look.bucket();
      key = look.best(slots);
    }
    TERRAZZO_UNROLL
    for (std::uint32_t distance = 1; distance < kLanes; distance *= 2) {
      std::uint32_t const other = __shfl_xor_sync(kAll, key, distance);
      key = key > other ? key : other;
    }
    __syncthreads();
    if (inside && lane == 0) {
      keys[position - coding::kDeflateHistoryBytes] = key;
      Table::insert(slots, bucket, position);
    }
    __syncthreads();
  }
}

// The length of a match of at least kDeflateLookBytes: every lane compares eight more bytes. All lanes call.
__device__ inline std::uint32_t follow_match(coding::DeflateWindow const& window, std::uint32_t position,
                                             std::uint32_t distance, std::uint32_t longest, std::uint32_t lane) {
  for (std::uint32_t base = coding::kDeflateLookBytes;; base += kWarpLanes * 8) {
    std::uint32_t const from = base + lane * 8;
    std::uint32_t length = from;
    if (from < longest) {
      std::uint32_t const until = from + 8 < longest ? from + 8 : longest;
      length = window.common_length(position, distance, from, until);
    }
    std::uint32_t const ends = __ballot_sync(kAll, length < from + 8);
    if (ends != 0) { return __shfl_sync(kAll, length, static_cast<int>(coding::trailing_zeros(ends))); }
  }
}

// Converts the keys of one warp's segment to tokens and calls use(token) for each, covered or not. Matches have at most
// `longest` bytes.
template <class Use>
__device__ void parse_segment(coding::DeflateWindow const& window, std::uint32_t* keys, std::uint32_t longest,
                              Use const& use) {
  using coding::DeflateToken;
  std::uint32_t const lane = threadIdx.x % kWarpLanes;
  std::uint32_t const piece_bytes = window.end - coding::kDeflateHistoryBytes;
  std::uint32_t const begin = threadIdx.x / kWarpLanes * coding::kDeflateSegmentBytes;
  std::uint32_t const full_end = begin + coding::kDeflateSegmentBytes;
  std::uint32_t const end = full_end < piece_bytes ? full_end : piece_bytes;
  std::uint32_t parsed = begin;  // end of the parsed positions
  // Loads the keys of the next positions while these are used.
  auto const load = [&](std::uint32_t at) { return at < end ? keys[at] : 0U; };
  std::uint32_t ahead = load(begin + lane);
  for (std::uint32_t base = begin; base < end; base += kWarpLanes) {
    std::uint32_t const at = base + lane;
    std::uint32_t const key = ahead;
    ahead = load(at + kWarpLanes);
    std::uint32_t word = DeflateToken::kCovered;
    if (parsed < base + kWarpLanes) {
      std::uint32_t const beside = __shfl_down_sync(kAll, key, 1), beyond = __shfl_sync(kAll, ahead, 0);
      coding::DeflateMatchKey const match(key), next(lane == kWarpLanes - 1 ? beyond : beside);
      std::uint32_t const take = at < end ? coding::length_to_take(match, next, end - at) : 0;
      if (at >= parsed) { word = DeflateToken::literal(window.byte_at(coding::kDeflateHistoryBytes + at)).word; }
      std::uint32_t taken = __ballot_sync(kAll, take != 0 && at >= parsed);
      while (taken != 0) {
        std::uint32_t const first = coding::trailing_zeros(taken);
        std::uint32_t length = __shfl_sync(kAll, take, static_cast<int>(first));
        std::uint32_t const distance = __shfl_sync(kAll, match.distance(), static_cast<int>(first));
        std::uint32_t const from = base + first;
        if (length == coding::kDeflateLookBytes) {
          std::uint32_t const left = end - from;
          length = follow_match(window, coding::kDeflateHistoryBytes + from, distance, left < longest ? left : longest,
                                lane);
        }
        parsed = from + length;
        if (at == from) {
          word = DeflateToken::match(length, distance).word;
        } else if (at > from && at < parsed) {
          word = DeflateToken::kCovered;
        }
        taken &= parsed >= base + kWarpLanes ? 0U : kAll << (parsed - base);
      }
    }
    if (at < end) {
      use(DeflateToken{word});
      keys[at] = word;
    }
  }
}

}  // namespace terrazzo::gpu::pieces
