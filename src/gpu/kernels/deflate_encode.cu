// SPDX-License-Identifier: Apache-2.0
//
// Three kernels (tile/deflate_pieces.hpp and tile/deflate_matches.hpp have the ideas):
//   encode  one block a piece: matches into global memory, which the second-level cache holds; a parse by each warp;
//           its codes; the bits, put together in shared memory. 56 KiB of it, so a multiprocessor has four blocks.
//   starts  one warp a tile: where each piece begins in the stream, and the tile's Adler-32.
//   join    one block a piece: shifts its words to where they belong.
#include "gpu/kernels/deflate_encode.hpp"

#include "gpu/kernels/piece_matches.cuh"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/scratch_carver.hpp"
#include "terrazzo/error.hpp"
#include "tile/adler32_block.cuh"
#include "tile/deflate_pieces.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using pieces::kAll;
using pieces::kBlocksAMultiprocessor;
using pieces::kThreads;
using pieces::kWarpLanes;
using pieces::kWarps;
using pieces::Piece;
using tile::DeflateToken;
using tile::DeflateWindow;
using tile::EncodeBatch;
using tile::kDeflatePieceBytes;
using tile::kDeflatePieceWords;
using tile::kDeflateStored;

constexpr std::uint32_t kTokensAThread = 8;
static_assert(kThreads == tile::kAdlerThreads);

struct Scratch {
  std::uint64_t* starts;  // in bits; pieces_a_tile + 1 a tile
  std::uint32_t* words;  // kDeflatePieceWords a piece
  std::uint32_t* tokens;  // kDeflatePieceBytes a block of the encoder
  std::uint32_t* sizes;  // of pieces: bits, or kDeflateStored
  std::uint32_t* adler_bytes;  // of pieces
  std::uint32_t* adler_weighted;
  std::uint32_t* adlers;  // of tiles
  std::uint32_t* next_item;  // the piece that is to be encoded next
  std::uint64_t pieces_a_tile;
};

struct Shared {
  alignas(16) std::uint32_t window[tile::kDeflateWindowWords];  // later the piece's bits
  union {
    std::uint32_t slots[tile::kDeflateSlots];
    tile::DeflateCodeWork work;
  };
  tile::DeflateCodes codes;
  std::uint32_t warp_bits[kWarps];
  std::uint32_t item;
};

static_assert(sizeof(Shared) + 64 + 1024 <= 228 * 1024 / kBlocksAMultiprocessor,
              "with Adler-32's sums and a KiB of CUDA's");

__device__ void clear_counts(tile::DeflateCodes& codes) {
  for (std::uint32_t i = threadIdx.x; i < tile::kDeflateLiteralSymbols; i += kThreads) {
    codes.literals.counts[i] = i == tile::kDeflateEndOfBlock ? 1 : 0;
  }
  if (threadIdx.x < tile::kDeflateDistanceSymbols) { codes.distances.counts[threadIdx.x] = 0; }
}

// The sum of `value` over the threads before this one, and over all. Between two calls lies a barrier of the caller's.
__device__ std::uint32_t bits_before(Shared& shared, std::uint32_t value, std::uint32_t& total) {
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

// The block's bits, into the window's memory.
__device__ void put_block(Shared& shared, std::uint32_t const* tokens, std::uint32_t bytes, bool last) {
  tile::DeflateCodes const& codes = shared.codes;
  std::uint32_t const bits = codes.header_bits + codes.body_bits;
  for (std::uint32_t i = threadIdx.x; i < tile::deflate_words(bits); i += kThreads) { shared.window[i] = 0; }
  __syncthreads();
  tile::put_block_header(shared.work, codes, last, threadIdx.x, shared.window);
  if (threadIdx.x == 0) {
    std::uint32_t const end_bits = codes.literals.lengths[tile::kDeflateEndOfBlock];
    tile::DeflateBits end(shared.window, bits - end_bits);
    end.put(codes.literals.codes[tile::kDeflateEndOfBlock] & 0xFFFFU, end_bits);
    end.finish();
  }
  std::uint32_t at = codes.header_bits;
  for (std::uint32_t base = 0; base < bytes; base += kThreads * kTokensAThread) {
    std::uint32_t const first = base + threadIdx.x * kTokensAThread;
    tile::DeflateTokenBits bits_of[kTokensAThread];
    std::uint32_t own = 0;
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kTokensAThread; i += 4) {
      // Behind the end is what another piece left.
      uint4 const loaded = *reinterpret_cast<uint4 const*>(tokens + first + i);
      std::uint32_t const words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
      TERRAZZO_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        bits_of[i + k] = tile::token_bits(codes, {first + i + k < bytes ? words[k] : DeflateToken::kCovered});
        own += bits_of[i + k].count();
      }
    }
    std::uint32_t total;
    tile::DeflateBits out(shared.window, at + bits_before(shared, own, total));
    TERRAZZO_UNROLL
    for (std::uint32_t i = 0; i < kTokensAThread; ++i) { bits_of[i].put(out); }
    out.finish();
    at += total;
    __syncthreads();
  }
}

__device__ void sum_adler(Scratch const& scratch, Piece const& piece, std::byte const* tile_input, std::uint64_t item) {
  std::uint64_t const begin = piece.index * kDeflatePieceBytes;
  tile::AdlerSums const sums = tile::adler_block_sums(
      tile::adler_share(tile_input, piece.tile_bytes, begin, begin + piece.bytes, threadIdx.x, kThreads));
  if (threadIdx.x == 0) {
    tile::AdlerSums const own = sums.reduced();
    scratch.adler_bytes[item] = static_cast<std::uint32_t>(own.bytes);
    scratch.adler_weighted[item] = static_cast<std::uint32_t>(own.weighted);
  }
}

template <std::uint32_t kLanes>
__global__ void __launch_bounds__(kThreads, kBlocksAMultiprocessor)
    encode_kernel(EncodeBatch batch, Scratch scratch, std::uint32_t item_count) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  std::uint32_t* const keys = scratch.tokens + std::uint64_t{blockIdx.x} * kDeflatePieceBytes;
  pieces::BlockThreads threads;
  for (;;) {
    // Pieces differ in how long they take, so blocks take the next one when they are free.
    if (threadIdx.x == 0) { shared.item = atomicAdd(scratch.next_item, 1U); }
    __syncthreads();
    std::uint32_t const item = shared.item;
    if (item >= item_count) { return; }
    Piece const piece(batch, scratch.pieces_a_tile, item);
    if (piece.bytes != 0) {
      std::byte const* const tile_input = batch.input + batch.input_offsets[piece.tile];
      pieces::load_window(shared.window, piece, tile_input + piece.index * kDeflatePieceBytes);
      pieces::clear_slots(shared.slots);
      clear_counts(shared.codes);
      sum_adler(scratch, piece, tile_input, item);
      __syncthreads();
      DeflateWindow const window = piece.window(shared.window);
      pieces::find_matches<kLanes, tile::kDeflateShortestMatch>(shared.slots, window, keys);
      pieces::parse_segment(window, keys, tile::kDeflateLongestMatch,
                            [&](DeflateToken token) { tile::count_token(shared.codes, token); });
      __syncthreads();
      tile::make_block_codes(threads, shared.work, shared.codes);
      std::uint32_t const bits = shared.codes.header_bits + shared.codes.body_bits;
      bool const stored = bits > tile::deflate_piece_most_bits(piece.bytes);
      if (threadIdx.x == 0) { scratch.sizes[item] = stored ? kDeflateStored : bits; }
      if (!stored) {
        put_block(shared, keys, piece.bytes, piece.last());
        std::uint32_t* const out = scratch.words + std::uint64_t{item} * kDeflatePieceWords;
        for (std::uint32_t i = threadIdx.x; i < tile::deflate_words(bits); i += kThreads) { out[i] = shared.window[i]; }
      }
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads) starts_kernel(EncodeBatch batch, Scratch scratch) {
  std::uint32_t const lane = threadIdx.x % kWarpLanes;
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarpLanes;
  if (tile >= batch.count) { return; }
  std::uint64_t const tile_bytes = batch.input_sizes[tile];
  std::uint64_t const pieces = tile::deflate_piece_count(tile_bytes);
  std::uint64_t const first_item = tile * scratch.pieces_a_tile;
  std::uint64_t* const starts = scratch.starts + tile * (scratch.pieces_a_tile + 1);
  std::uint64_t start = 0;
  tile::AdlerSums sums;
  for (std::uint64_t base = 0; base < pieces; base += kWarpLanes) {
    std::uint64_t const piece = base + lane;
    std::uint32_t size = 0;
    if (piece < pieces) {
      size = scratch.sizes[first_item + piece];
      sums.bytes += scratch.adler_bytes[first_item + piece];
      sums.weighted += scratch.adler_weighted[first_item + piece];
    }
    for (std::uint32_t i = 0; i < kWarpLanes && base + i < pieces; ++i) {
      if (lane == i) { starts[piece] = start; }
      start = tile::deflate_piece_end(start, __shfl_sync(kAll, size, static_cast<int>(i)),
                                      tile::deflate_piece_bytes(tile_bytes, base + i));
    }
  }
  sums = sums.reduced();
  for (std::uint32_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    sums.bytes += __shfl_down_sync(kAll, static_cast<unsigned long long>(sums.bytes), distance);
    sums.weighted += __shfl_down_sync(kAll, static_cast<unsigned long long>(sums.weighted), distance);
  }
  if (lane == 0) {
    starts[pieces] = start;
    scratch.adlers[tile] = tile::adler32_of(sums, tile_bytes);
    batch.output_sizes[tile] = pieces == 0 ? 0 : (start + 7) / 8 + tile::kZlibHeaderBytes + tile::kZlibTailBytes;
    batch.statuses[tile] = pieces == 0 ? tile::TileStatus::sparse : tile::TileStatus::ok;
  }
}

__global__ void __launch_bounds__(kThreads) join_kernel(EncodeBatch batch, Scratch scratch, std::uint64_t item_count) {
  std::uint64_t const pieces_a_tile = scratch.pieces_a_tile;
  for (std::uint64_t item = blockIdx.x; item < item_count; item += gridDim.x) {
    Piece const piece(batch, pieces_a_tile, item);
    if (piece.bytes == 0) { continue; }
    std::uint64_t const first_item = piece.tile * pieces_a_tile;
    tile::DeflateJoin const join{.input = batch.input + batch.input_offsets[piece.tile],
                                 .input_bytes = piece.tile_bytes,
                                 .words = scratch.words + first_item * kDeflatePieceWords,
                                 .sizes = scratch.sizes + first_item,
                                 .start_bits = scratch.starts + piece.tile * (pieces_a_tile + 1),
                                 .piece_count = tile::deflate_piece_count(piece.tile_bytes)};
    std::byte* const out = batch.output + batch.output_offsets[piece.tile];
    std::byte* const stream = out + tile::kZlibHeaderBytes;
    std::uint64_t const stream_bytes = join.stream_bytes();
    // Words of memory that hold the bytes that begin in this piece; the first byte in a word chooses whose it is.
    // Counted from the word in which the stream begins, `ahead` bytes before it.
    std::uint64_t const ahead = reinterpret_cast<std::uintptr_t>(stream) % 4;
    std::uint64_t const from = piece.index == 0 ? 0 : (join.first_byte(piece.index) + ahead + 3) / 4;
    std::uint64_t const to = (join.first_byte(piece.index + 1) + ahead + 3) / 4;
    for (std::uint64_t word = from + threadIdx.x; word < to; word += kThreads) {
      std::uint64_t const at = word == 0 ? 0 : word * 4 - ahead;
      std::uint64_t const after = word * 4 + 4 - ahead;
      std::uint32_t value = join.word_at(at, piece.index);
      if (word != 0 && after <= stream_bytes) {
        *reinterpret_cast<std::uint32_t*>(stream + at) = value;
        continue;
      }
      for (std::uint64_t i = at; i < after && i < stream_bytes; ++i, value >>= 8) {
        stream[i] = static_cast<std::byte>(value & 0xFFU);
      }
    }
    if (threadIdx.x == 0 && piece.index == 0) {
      for (std::uint32_t i = 0; i < tile::kZlibHeaderBytes; ++i) {
        out[i] = static_cast<std::byte>(tile::kZlibHeader >> (8 * i) & 0xFFU);
      }
      std::uint32_t const adler = scratch.adlers[piece.tile];
      for (std::uint32_t i = 0; i < tile::kZlibTailBytes; ++i) {
        stream[stream_bytes + i] = static_cast<std::byte>(adler >> (24 - 8 * i) & 0xFFU);
      }
    }
  }
}

Scratch carve(ScratchCarver& carver, std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  std::uint64_t const pieces_a_tile = tile::deflate_piece_count(longest_tile_bytes);
  std::uint64_t const items = tile_count * pieces_a_tile;
  Scratch scratch{};
  scratch.starts = carver.take<std::uint64_t>(tile_count * (pieces_a_tile + 1));
  scratch.words = carver.take<std::uint32_t>(items * kDeflatePieceWords);
  scratch.tokens = carver.take<std::uint32_t>(pieces::block_count(items) * kDeflatePieceBytes);
  scratch.sizes = carver.take<std::uint32_t>(items);
  scratch.adler_bytes = carver.take<std::uint32_t>(items);
  scratch.adler_weighted = carver.take<std::uint32_t>(items);
  scratch.adlers = carver.take<std::uint32_t>(tile_count);
  scratch.next_item = carver.take<std::uint32_t>(1);
  scratch.pieces_a_tile = pieces_a_tile;
  return scratch;
}

template <std::uint32_t kLanes>
void launch_encode(EncodeBatch const& batch, Scratch const& scratch, std::uint32_t items, cudaStream_t stream) {
  check_cuda(cudaFuncSetAttribute(encode_kernel<kLanes>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Shared))),
             "Deflate: asking for shared memory");
  check_cuda(cudaFuncSetAttribute(encode_kernel<kLanes>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "Deflate: asking for shared memory");
  auto const blocks = static_cast<std::uint32_t>(pieces::block_count(items));
  encode_kernel<kLanes><<<blocks, kThreads, sizeof(Shared), stream>>>(batch, scratch, items);
  check_launch("Deflate: encoding pieces");
}

}  // namespace

std::uint64_t deflate_encode_bound(std::uint64_t tile_bytes) noexcept { return tile::deflate_pieces_bound(tile_bytes); }

std::size_t deflate_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  ScratchCarver carver(nullptr);
  (void)carve(carver, tile_count, longest_tile_bytes);
  return carver.enough();
}

void deflate_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  if (batch.count == 0) { return; }
  if (scratch_bytes < deflate_encode_scratch_bytes(batch.count, batch.longest_input_bytes)) {
    throw Error(ErrorKind::usage, "Deflate: less scratch memory than the batch needs");
  }
  ScratchCarver carver(scratch);
  Scratch const places = carve(carver, batch.count, batch.longest_input_bytes);
  std::uint64_t const items = batch.count * places.pieces_a_tile;
  constexpr std::uint64_t kMostItems = 0x7FFFFFFF;  // 64 TiB: more than any device holds
  if (items > kMostItems) { throw Error(ErrorKind::usage, "Deflate: a batch of more pieces than can be counted"); }
  auto const item_count = static_cast<std::uint32_t>(items);
  if (item_count != 0) {
    check_cuda(cudaMemsetAsync(places.next_item, 0, sizeof *places.next_item, stream), "Deflate: clearing a counter");
    switch (tile::deflate_lanes(level)) {
      case 1: launch_encode<1>(batch, places, item_count, stream); break;
      case 2: launch_encode<2>(batch, places, item_count, stream); break;
      default: launch_encode<4>(batch, places, item_count, stream); break;
    }
  }
  starts_kernel<<<batch.count / kWarps + 1, kThreads, 0, stream>>>(batch, places);
  check_launch("Deflate: adding up the pieces of tiles");
  if (item_count != 0) {
    join_kernel<<<item_count, kThreads, 0, stream>>>(batch, places, items);
    check_launch("Deflate: joining pieces");
  }
}

}  // namespace terrazzo::gpu
