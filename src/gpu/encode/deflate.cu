// SPDX-License-Identifier: Apache-2.0
//
// The Deflate part of piece_encoder.cuh (design: coding/deflate/pieces.hpp): a piece's codes and bits, which begin at
// the end of the previous piece's bits, and the tile's Adler-32. 56 KiB of shared memory allow four blocks per
// multiprocessor.
#include "gpu/encode/deflate.hpp"

#include "coding/deflate/adler32_block.cuh"
#include "coding/deflate/pieces.hpp"
#include "gpu/encode/piece_encoder.cuh"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using coding::DeflateToken;
using coding::kDeflatePieceBytes;
using pieces::kAll;
using pieces::kThreads;
using pieces::kWarpLanes;
using pieces::kWarps;
using pieces::Piece;

constexpr std::uint32_t kTokensAThread = 8;
static_assert(kThreads == coding::kAdlerThreads);

struct DeflateShared {
  alignas(16) std::uint32_t window[coding::kDeflateWindowWords];  // later the piece's bits
  union {
    std::uint32_t slots[coding::kDeflateSlots];
    coding::DeflateCodeWork work;
  };
  coding::DeflateCodes codes;
  std::uint32_t warp_bits[kWarps];
  std::uint32_t item;
};

static_assert(sizeof(DeflateShared) + 64 + 1024 <= 228 * 1024 / pieces::kBlocksAMultiprocessor,
              "with Adler-32's sums and a KiB of CUDA's");

__device__ void clear_counts(coding::DeflateCodes& codes) {
  for (std::uint32_t i = threadIdx.x; i < coding::kDeflateLiteralSymbols; i += kThreads) {
    codes.literals.counts[i] = i == coding::kDeflateEndOfBlock ? 1 : 0;
  }
  if (threadIdx.x < coding::kDeflateDistanceSymbols) { codes.distances.counts[threadIdx.x] = 0; }
}

// The sum of `value` over the threads before this one, and over all. The caller synchronizes the block between two
// calls.
__device__ std::uint32_t bits_before(DeflateShared& shared, std::uint32_t value, std::uint32_t& total) {
  std::uint32_t const lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  std::uint32_t sum = value;
  for (std::uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
    std::uint32_t const before = __shfl_up_sync(kAll, sum, distance);
    if (lane >= distance) { sum += before; }
  }
  if (lane == kWarpLanes - 1) { shared.warp_bits[warp] = sum; }
  __syncthreads();
  std::uint32_t before = sum - value;
  total = 0;
  for (std::uint32_t i = 0; i < kWarps; ++i) {
    if (i < warp) { before += shared.warp_bits[i]; }
    total += shared.warp_bits[i];
  }
  return before;
}

// Writes the block's bits to the window's memory.
__device__ void put_block(DeflateShared& shared, std::uint32_t const* tokens, std::uint32_t bytes, bool last) {
  coding::DeflateCodes const& codes = shared.codes;
  std::uint32_t const bits = codes.header_bits + codes.body_bits;
  for (std::uint32_t i = threadIdx.x; i < coding::deflate_words(bits); i += kThreads) { shared.window[i] = 0; }
  __syncthreads();
  coding::put_block_header(shared.work, codes, last, threadIdx.x, shared.window);
  if (threadIdx.x == 0) {
    std::uint32_t const end_bits = codes.literals.lengths[coding::kDeflateEndOfBlock];
    coding::DeflateBits end(shared.window, bits - end_bits);
    end.put(codes.literals.codes[coding::kDeflateEndOfBlock] & 0xFFFFU, end_bits);
    end.finish();
  }
  std::uint32_t at = codes.header_bits;
  for (std::uint32_t base = 0; base < bytes; base += kThreads * kTokensAThread) {
    std::uint32_t const first = base + threadIdx.x * kTokensAThread;
    coding::DeflateTokenBits bits_of[kTokensAThread];
    std::uint32_t own = 0;
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kTokensAThread; i += 4) {
      // Entries after the end belong to an earlier piece.
      uint4 const loaded = *reinterpret_cast<uint4 const*>(tokens + first + i);
      std::uint32_t const words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
      TERRAZZO_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        bits_of[i + k] = coding::token_bits(codes, {first + i + k < bytes ? words[k] : DeflateToken::kCovered});
        own += bits_of[i + k].count();
      }
    }
    std::uint32_t total;
    coding::DeflateBits out(shared.window, at + bits_before(shared, own, total));
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kTokensAThread; ++i) { bits_of[i].put(out); }
    out.finish();
    at += total;
    __syncthreads();
  }
}

// Starts are in bits of the stream without its frame; sizes are bits of pieces.
struct DeflateFormat {
  static constexpr char const* kName = "Deflate";
  static constexpr std::uint32_t kPieceWords = coding::kDeflatePieceWords;
  static constexpr std::uint32_t kUnencoded = coding::kDeflateStored;

  struct Scratch : pieces::PieceScratch {
    std::uint32_t* adler_bytes;  // per piece
    std::uint32_t* adler_weighted;
    std::uint32_t* adlers;  // per tile

    void take(Carver& carver, std::uint64_t items, std::uint32_t tiles, std::uint64_t) noexcept {
      adler_bytes = carver.take<std::uint32_t>(items);
      adler_weighted = carver.take<std::uint32_t>(items);
      adlers = carver.take<std::uint32_t>(tiles);
    }
  };

  using Shared = DeflateShared;

  static std::uint32_t lanes(int level) noexcept { return coding::deflate_lanes(level); }

  using Places = std::uint32_t*;  // tokens
  [[nodiscard]] __device__ static Places places(Scratch const& scratch, std::uint64_t block) {
    return scratch.tokens_of(block);
  }

  __device__ static void sum_adler(Scratch const& scratch, Piece const& piece, std::byte const* tile_input) {
    std::uint64_t const begin = piece.index * kDeflatePieceBytes;
    coding::AdlerSums const sums = coding::adler_block_sums(
        coding::adler_share(tile_input, piece.tile_bytes, begin, begin + piece.bytes, threadIdx.x, kThreads));
    if (threadIdx.x == 0) {
      coding::AdlerSums const own = sums.reduced();
      scratch.adler_bytes[piece.item] = static_cast<std::uint32_t>(own.bytes);
      scratch.adler_weighted[piece.item] = static_cast<std::uint32_t>(own.weighted);
    }
  }

  template <std::uint32_t kLanes>
  __device__ static std::uint32_t encode(Shared& shared, Scratch const& scratch, Places tokens, Piece const& piece,
                                         std::byte const* tile_input) {
    pieces::load_window(shared.window, piece, tile_input + piece.index * kDeflatePieceBytes);
    pieces::clear_slots(shared.slots);
    clear_counts(shared.codes);
    sum_adler(scratch, piece, tile_input);
    __syncthreads();
    coding::DeflateWindow const window = piece.window(shared.window);
    pieces::find_matches<kLanes, coding::kDeflateShortestMatch>(shared.slots, window, tokens);
    pieces::parse_segment(window, tokens, coding::kDeflateLongestMatch,
                          [&](DeflateToken token) { coding::count_token(shared.codes, token); });
    __syncthreads();
    pieces::BlockThreads threads;
    coding::make_block_codes(threads, shared.work, shared.codes);
    std::uint32_t const bits = shared.codes.header_bits + shared.codes.body_bits;
    if (bits > coding::deflate_piece_most_bits(piece.bytes)) { return kUnencoded; }
    put_block(shared, tokens, piece.bytes, piece.last());
    return bits;
  }
  [[nodiscard]] __device__ static std::uint32_t words_of(std::uint32_t size) { return coding::deflate_words(size); }

  __device__ static std::uint64_t find_starts(Scratch const& scratch, pieces::TilePieces const& tile,
                                              std::uint32_t lane) {
    std::uint64_t* const starts = scratch.starts_of(tile.tile);
    std::uint64_t start = 0;
    coding::AdlerSums sums;
    for (std::uint64_t base = 0; base < tile.count; base += kWarpLanes) {
      std::uint64_t const piece = base + lane;
      std::uint32_t size = 0;
      if (piece < tile.count) {
        size = scratch.sizes[tile.first_item + piece];
        sums.bytes += scratch.adler_bytes[tile.first_item + piece];
        sums.weighted += scratch.adler_weighted[tile.first_item + piece];
      }
      TERRAZZO_UNROLL  // so that no shuffle waits for a start
          for (std::uint32_t i = 0; i < kWarpLanes && base + i < tile.count; ++i) {
        if (lane == i) { starts[piece] = start; }
        start = coding::deflate_piece_end(start, __shfl_sync(kAll, size, static_cast<int>(i)),
                                          coding::deflate_piece_bytes(tile.bytes, base + i));
      }
    }
    sums = sums.reduced();
    for (std::uint32_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      sums.bytes += __shfl_down_sync(kAll, static_cast<unsigned long long>(sums.bytes), distance);
      sums.weighted += __shfl_down_sync(kAll, static_cast<unsigned long long>(sums.weighted), distance);
    }
    if (lane == 0) {
      starts[tile.count] = start;
      scratch.adlers[tile.tile] = coding::adler32_of(sums, tile.bytes);
    }
    return (start + 7) / 8 + coding::kZlibHeaderBytes + coding::kZlibTailBytes;
  }

  [[nodiscard]] __device__ static coding::DeflatePieceSource source(tile::EncodeBatch const& batch,
                                                                    Scratch const& scratch, Piece const& piece) {
    std::uint64_t const first_item = piece.tile * scratch.pieces_a_tile;
    return {{.input = batch.input + batch.input_offsets[piece.tile],
             .input_bytes = piece.tile_bytes,
             .words = scratch.words + first_item * kPieceWords,
             .sizes = scratch.sizes + first_item,
             .start_bits = scratch.starts_of(piece.tile),
             .piece_count = coding::deflate_piece_count(piece.tile_bytes)},
            piece.index};
  }

  __device__ static void put_frame(Scratch const& scratch, Piece const& piece, coding::DeflatePieceSource const& source,
                                   std::byte* out) {
    if (threadIdx.x != 0 || piece.index != 0) { return; }
    for (std::uint32_t i = 0; i < coding::kZlibHeaderBytes; ++i) {
      out[i] = static_cast<std::byte>(coding::kZlibHeader >> (8 * i) & 0xFFU);
    }
    std::byte* const tail = out + coding::kZlibHeaderBytes + source.join().stream_bytes();
    std::uint32_t const adler = scratch.adlers[piece.tile];
    for (std::uint32_t i = 0; i < coding::kZlibTailBytes; ++i) {
      tail[i] = static_cast<std::byte>(adler >> (24 - 8 * i) & 0xFFU);
    }
  }
};

}  // namespace

std::uint64_t deflate_encode_bound(std::uint64_t tile_bytes) noexcept {
  return coding::deflate_pieces_bound(tile_bytes);
}

std::size_t deflate_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  return pieces::scratch_bytes<DeflateFormat>(tile_count, longest_tile_bytes);
}

void deflate_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  pieces::encode_tiles<DeflateFormat>(batch, level, scratch, scratch_bytes, stream);
}

}  // namespace terrazzo::gpu
