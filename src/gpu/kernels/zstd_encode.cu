// SPDX-License-Identifier: Apache-2.0
//
// Three kernels (tile/zstd_block.hpp and tile/deflate_matches.hpp have the ideas):
//   encode  one block a piece: matches and tokens as for Deflate; literals, sequences and their codes in global memory,
//           which the second-level cache holds; the ZSTD block, put together in shared memory. 53 KiB of it, so a
//           multiprocessor has four blocks, and others work while one thread walks through the states.
//   starts  one warp a tile: where each block begins in the frame.
//   join    one block a piece: copies its bytes to where they belong.
#include "gpu/kernels/zstd_encode.hpp"

#include "gpu/kernels/piece_matches.cuh"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/scratch_carver.hpp"
#include "terrazzo/error.hpp"
#include "tile/zstd_pieces.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using pieces::kAll;
using pieces::kBlocksAMultiprocessor;
using pieces::kThreads;
using pieces::kWarpLanes;
using pieces::kWarps;
using pieces::Piece;
using tile::DeflateWindow;
using tile::EncodeBatch;
using tile::kZstdMostSequences;
using tile::kZstdPieceBytes;
using tile::kZstdPieceWords;
using tile::kZstdRaw;
using tile::ZstdPlaces;

struct Scratch {
  std::uint64_t* starts;  // of blocks in the frame, in bytes
  std::uint32_t* words;  // kZstdPieceWords a piece
  std::uint32_t* sizes;  // of pieces: the block's bytes, or kZstdRaw
  std::uint32_t* tokens;  // what ZstdPlaces has, for each block of the encoder
  std::uint8_t* literals;
  std::uint16_t* sequences;  // three arrays
  std::uint32_t* next_item;  // the piece that is to be encoded next
  std::uint64_t pieces_a_tile;

  [[nodiscard]] __device__ ZstdPlaces places(std::uint64_t block) const {
    std::uint16_t* const own = sequences + block * kSequenceArrays * kZstdMostSequences;
    return {.tokens = tokens + block * ZstdPlaces::kTokenWords,
            .literals = literals + block * kZstdPieceBytes,
            .literal_lengths = own,
            .match_lengths = own + kZstdMostSequences,
            .distances = own + 2 * kZstdMostSequences};
  }

  static constexpr std::uint64_t kSequenceArrays = 3;
};

struct Shared {
  alignas(16) std::uint32_t window[tile::kDeflateWindowWords];  // later the block
  union {
    std::uint32_t slots[tile::kDeflateSlots];
    tile::ZstdWork work;
  };
  std::uint32_t item;
};

static_assert(sizeof(Shared) + 1024 <= 228 * 1024 / kBlocksAMultiprocessor, "with a KiB of CUDA's");

// Returns the size of the piece's block, which then lies in the window's memory unless it is raw.
template <std::uint32_t kLanes>
__device__ std::uint32_t encode_piece(Shared& shared, Piece const& piece, std::byte const* in,
                                      ZstdPlaces const& places) {
  pieces::load_window(shared.window, piece, in);
  pieces::clear_slots(shared.slots);
  __syncthreads();
  DeflateWindow const window = piece.window(shared.window);
  if (__syncthreads_and(tile::zstd_share_repeats(window, threadIdx.x) ? 1 : 0) != 0) {
    if (threadIdx.x == 0) { shared.window[0] = tile::zstd_repeated_block(window, piece.last()); }
    __syncthreads();
    return tile::kZstdRepeatedBlockBytes;
  }
  pieces::find_matches<kLanes, tile::kZstdShortestTaken>(shared.slots, window, places.tokens);
  pieces::parse_segment(window, places.tokens, tile::kZstdLongestMatch, [](tile::DeflateToken) {});
  __syncthreads();
  pieces::BlockThreads threads;
  tile::make_zstd_block(threads, shared.work, places, piece.bytes);
  std::uint32_t const content_bytes = shared.work.plan.bytes;
  if (content_bytes >= piece.bytes) { return kZstdRaw; }
  tile::put_zstd_block(threads, shared.work, places, piece.last(), shared.window);
  return tile::kZstdBlockHeaderBytes + content_bytes;
}

template <std::uint32_t kLanes>
__global__ void __launch_bounds__(kThreads, kBlocksAMultiprocessor)
    encode_kernel(EncodeBatch batch, Scratch scratch, std::uint32_t item_count) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  ZstdPlaces const places = scratch.places(blockIdx.x);
  for (;;) {
    // Pieces differ in how long they take, so blocks take the next one when they are free.
    if (threadIdx.x == 0) { shared.item = atomicAdd(scratch.next_item, 1U); }
    __syncthreads();
    std::uint32_t const item = shared.item;
    if (item >= item_count) { return; }
    Piece const piece(batch, scratch.pieces_a_tile, item);
    if (piece.bytes != 0) {
      std::byte const* const in = batch.input + batch.input_offsets[piece.tile] + piece.index * kZstdPieceBytes;
      std::uint32_t const size = encode_piece<kLanes>(shared, piece, in, places);
      if (threadIdx.x == 0) { scratch.sizes[item] = size; }
      if (size != kZstdRaw) {
        std::uint32_t* const out = scratch.words + std::uint64_t{item} * kZstdPieceWords;
        for (std::uint32_t i = threadIdx.x; i < (size + 3) / 4; i += kThreads) { out[i] = shared.window[i]; }
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
  std::uint64_t const count = tile::zstd_piece_count(tile_bytes);
  std::uint64_t const first_item = tile * scratch.pieces_a_tile;
  std::uint64_t start = tile::ZstdFrameHeader{tile_bytes}.bytes();
  for (std::uint64_t base = 0; base < count; base += kWarpLanes) {
    std::uint64_t const piece = base + lane;
    std::uint32_t own = 0;
    if (piece < count) {
      own = tile::zstd_block_bytes(scratch.sizes[first_item + piece], tile::deflate_piece_bytes(tile_bytes, piece));
    }
    std::uint32_t sum = own;
    for (std::uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
      std::uint32_t const before = __shfl_up_sync(kAll, sum, distance);
      if (lane >= distance) { sum += before; }
    }
    if (piece < count) { scratch.starts[first_item + piece] = start + sum - own; }
    start += __shfl_sync(kAll, sum, static_cast<int>(kWarpLanes - 1));
  }
  if (lane == 0) {
    batch.output_sizes[tile] = count == 0 ? 0 : start;
    batch.statuses[tile] = count == 0 ? tile::TileStatus::sparse : tile::TileStatus::ok;
  }
}

// Whole words of memory where there are some, bytes before and behind them.
__global__ void __launch_bounds__(kThreads) join_kernel(EncodeBatch batch, Scratch scratch) {
  std::uint64_t const item = blockIdx.x;
  Piece const piece(batch, scratch.pieces_a_tile, item);
  if (piece.bytes == 0) { return; }
  tile::ZstdBlockSource const block{
      .input = batch.input + batch.input_offsets[piece.tile] + piece.index * kZstdPieceBytes,
      .input_bytes = piece.bytes,
      .words = scratch.words + item * kZstdPieceWords,
      .size = scratch.sizes[item],
      .last = piece.last()};
  std::byte* const frame = batch.output + batch.output_offsets[piece.tile];
  std::byte* const out = frame + scratch.starts[item];
  std::uint32_t const bytes = block.bytes();
  auto const to_word = static_cast<std::uint32_t>((4 - reinterpret_cast<std::uintptr_t>(out) % 4) % 4);
  std::uint32_t const head = to_word < bytes ? to_word : bytes;
  std::uint32_t const tail = head + (bytes - head) / 4 * 4;
  for (std::uint32_t at = head + threadIdx.x * 4; at < tail; at += kThreads * 4) {
    *reinterpret_cast<std::uint32_t*>(out + at) = block.word_at(at);
  }
  if (threadIdx.x < head) { out[threadIdx.x] = static_cast<std::byte>(block.byte_at(threadIdx.x)); }
  if (threadIdx.x < bytes - tail) {
    out[tail + threadIdx.x] = static_cast<std::byte>(block.byte_at(tail + threadIdx.x));
  }
  tile::ZstdFrameHeader const header{piece.tile_bytes};
  if (piece.index == 0 && threadIdx.x < header.bytes()) {
    frame[threadIdx.x] = static_cast<std::byte>(header.byte_at(threadIdx.x));
  }
}

Scratch carve(ScratchCarver& carver, std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  std::uint64_t const pieces_a_tile = tile::zstd_piece_count(longest_tile_bytes);
  std::uint64_t const items = tile_count * pieces_a_tile;
  std::uint64_t const blocks = pieces::block_count(items);
  Scratch scratch{};
  scratch.starts = carver.take<std::uint64_t>(items);
  scratch.words = carver.take<std::uint32_t>(items * kZstdPieceWords);
  scratch.sizes = carver.take<std::uint32_t>(items);
  scratch.tokens = carver.take<std::uint32_t>(blocks * ZstdPlaces::kTokenWords);
  scratch.literals = carver.take<std::uint8_t>(blocks * kZstdPieceBytes);
  scratch.sequences = carver.take<std::uint16_t>(blocks * Scratch::kSequenceArrays * kZstdMostSequences);
  scratch.next_item = carver.take<std::uint32_t>(1);
  scratch.pieces_a_tile = pieces_a_tile;
  return scratch;
}

template <std::uint32_t kLanes>
void launch_encode(EncodeBatch const& batch, Scratch const& scratch, std::uint32_t items, cudaStream_t stream) {
  check_cuda(cudaFuncSetAttribute(encode_kernel<kLanes>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Shared))),
             "ZSTD: asking for shared memory");
  check_cuda(cudaFuncSetAttribute(encode_kernel<kLanes>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "ZSTD: asking for shared memory");
  auto const blocks = static_cast<std::uint32_t>(pieces::block_count(items));
  encode_kernel<kLanes><<<blocks, kThreads, sizeof(Shared), stream>>>(batch, scratch, items);
  check_launch("ZSTD: encoding pieces");
}

}  // namespace

std::uint64_t zstd_encode_bound(std::uint64_t tile_bytes) noexcept { return tile::zstd_pieces_bound(tile_bytes); }

std::size_t zstd_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  ScratchCarver carver(nullptr);
  (void)carve(carver, tile_count, longest_tile_bytes);
  return carver.enough();
}

void zstd_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) {
  if (batch.count == 0) { return; }
  if (scratch_bytes < zstd_encode_scratch_bytes(batch.count, batch.longest_input_bytes)) {
    throw Error(ErrorKind::usage, "ZSTD: less scratch memory than the batch needs");
  }
  ScratchCarver carver(scratch);
  Scratch const places = carve(carver, batch.count, batch.longest_input_bytes);
  std::uint64_t const items = batch.count * places.pieces_a_tile;
  constexpr std::uint64_t kMostItems = 0x7FFFFFFF;  // 64 TiB: more than any device holds
  if (items > kMostItems) { throw Error(ErrorKind::usage, "ZSTD: a batch of more pieces than can be counted"); }
  auto const item_count = static_cast<std::uint32_t>(items);
  if (item_count != 0) {
    check_cuda(cudaMemsetAsync(places.next_item, 0, sizeof *places.next_item, stream), "ZSTD: clearing a counter");
    switch (tile::zstd_lanes(level)) {
      case 1: launch_encode<1>(batch, places, item_count, stream); break;
      case 2: launch_encode<2>(batch, places, item_count, stream); break;
      default: launch_encode<4>(batch, places, item_count, stream); break;
    }
  }
  starts_kernel<<<batch.count / kWarps + 1, kThreads, 0, stream>>>(batch, places);
  check_launch("ZSTD: adding up the blocks of tiles");
  if (item_count != 0) {
    join_kernel<<<item_count, kThreads, 0, stream>>>(batch, places);
    check_launch("ZSTD: joining blocks");
  }
}

}  // namespace terrazzo::gpu
