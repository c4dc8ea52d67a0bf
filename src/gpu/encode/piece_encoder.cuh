// SPDX-License-Identifier: Apache-2.0
//
// The format-independent part of an encoder that divides tiles into pieces. Three kernels:
//   encode  one block per piece: matches and tokens in global memory, which the L2 cache holds; the piece's words are
//           assembled in shared memory, of which a multiprocessor has enough for four blocks.
//   starts  one warp per tile: the start of each piece in the output.
//   join    one block per piece: copies its bytes to their destination.
//
// A Format is a class of static members:
//   kName             for messages
//   kPieceWords       the most words of an encoded piece
//   kUnencoded        the size of a piece without words: it is copied from the input
//   lanes(level)      1, 2 or 4, the argument of find_matches()
//   Scratch           a PieceScratch and, allocated by take(carver, items, tiles, blocks), other data in global memory
//   Shared            a block's shared memory, with .window, which finally holds the piece's words, and .item
//   Places, places(scratch, block)  a block's part of the scratch
//   encode<kLanes>(shared, scratch, places, piece, tile_input)  returns the piece's size; all threads call
//   words_of(size)    words of an encoded piece
//   find_starts(scratch, tile, lane)  fills the starts; returns, at least to lane 0, the size of the whole output
//   source(batch, scratch, piece)  the piece's bytes in the output, with begin(), bytes(), word_at() and byte_at()
//   put_frame(scratch, piece, source, out)  writes the bytes around all pieces; all threads of all pieces call
#pragma once

#include "base/carver.hpp"
#include "base/text.hpp"
#include "coding/deflate/pieces.hpp"
#include "gpu/encode/piece_matches.cuh"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu::pieces {

struct PieceScratch {
  std::uint64_t*
      starts;  // of pieces in the output, as the format counts, and room for its end: pieces_a_tile + 1 a tile
  std::uint32_t* words;  // Format::kPieceWords per piece
  std::uint32_t* sizes;  // size of each piece, in the format's unit, or Format::kUnencoded
  std::uint32_t* tokens;  // kDeflatePieceBytes per block of the encoder
  std::uint32_t* next_item;  // the next piece to encode
  std::uint64_t pieces_a_tile;

  [[nodiscard]] __device__ std::uint64_t* starts_of(std::uint64_t tile) const {
    return starts + tile * (pieces_a_tile + 1);
  }
  [[nodiscard]] __device__ std::uint32_t* tokens_of(std::uint64_t block) const {
    return tokens + block * coding::kDeflatePieceBytes;
  }
};

// The pieces of a tile, for starts_kernel.
struct TilePieces {
  std::uint64_t tile, bytes;
  std::uint64_t count;  // number of pieces
  std::uint64_t first_item;
};

template <class Format, std::uint32_t kLanes>
__global__ void __launch_bounds__(kThreads, kBlocksAMultiprocessor)
    encode_kernel(tile::EncodeBatch batch, typename Format::Scratch scratch, std::uint32_t item_count) {
  extern __shared__ uint4 memory[];
  auto& shared = *reinterpret_cast<typename Format::Shared*>(memory);
  typename Format::Places const places = Format::places(scratch, blockIdx.x);
  for (;;) {
    // Pieces differ in encoding time, so blocks take the next one when they are free.
    if (threadIdx.x == 0) { shared.item = atomicAdd(scratch.next_item, 1U); }
    __syncthreads();
    std::uint32_t const item = shared.item;
    if (item >= item_count) { return; }
    Piece const piece(batch, scratch.pieces_a_tile, item);
    if (piece.bytes != 0) {
      std::byte const* const tile_input = batch.input + batch.input_offsets[piece.tile];
      std::uint32_t const size = Format::template encode<kLanes>(shared, scratch, places, piece, tile_input);
      if (threadIdx.x == 0) { scratch.sizes[item] = size; }
      if (size != Format::kUnencoded) {
        std::uint32_t* const out = scratch.words + std::uint64_t{item} * Format::kPieceWords;
        for (std::uint32_t i = threadIdx.x; i < Format::words_of(size); i += kThreads) { out[i] = shared.window[i]; }
      }
    }
    __syncthreads();
  }
}

template <class Format>
__global__ void __launch_bounds__(kThreads) starts_kernel(tile::EncodeBatch batch, typename Format::Scratch scratch) {
  std::uint32_t const lane = threadIdx.x % kWarpLanes;
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarpLanes;
  if (tile >= batch.count) { return; }
  std::uint64_t const bytes = batch.input_sizes[tile];
  TilePieces const pieces{tile, bytes, coding::deflate_piece_count(bytes), tile * scratch.pieces_a_tile};
  std::uint64_t const output_bytes = Format::find_starts(scratch, pieces, lane);
  if (lane == 0) {
    batch.output_sizes[tile] = pieces.count == 0 ? 0 : output_bytes;
    batch.statuses[tile] = pieces.count == 0 ? tile::TileStatus::sparse : tile::TileStatus::ok;
  }
}

// Copies whole words where possible, and single bytes before and after them.
template <class Source>
__device__ void put_bytes(Source const& source, std::byte* out) {
  std::uint32_t const bytes = source.bytes();
  auto const to_word = static_cast<std::uint32_t>((4 - reinterpret_cast<std::uintptr_t>(out) % 4) % 4);
  std::uint32_t const head = to_word < bytes ? to_word : bytes;
  std::uint32_t const tail = head + (bytes - head) / 4 * 4;
  for (std::uint32_t at = head + threadIdx.x * 4; at < tail; at += kThreads * 4) {
    *reinterpret_cast<std::uint32_t*>(out + at) = source.word_at(at);
  }
  if (threadIdx.x < head) { out[threadIdx.x] = static_cast<std::byte>(source.byte_at(threadIdx.x)); }
  if (threadIdx.x < bytes - tail) {
    out[tail + threadIdx.x] = static_cast<std::byte>(source.byte_at(tail + threadIdx.x));
  }
}

template <class Format>
__global__ void __launch_bounds__(kThreads) join_kernel(tile::EncodeBatch batch, typename Format::Scratch scratch) {
  Piece const piece(batch, scratch.pieces_a_tile, blockIdx.x);
  if (piece.bytes == 0) { return; }
  std::byte* const out = batch.output + batch.output_offsets[piece.tile];
  auto const source = Format::source(batch, scratch, piece);
  put_bytes(source, out + source.begin());
  Format::put_frame(scratch, piece, source, out);
}

template <class Format>
[[nodiscard]] typename Format::Scratch carve(Carver& carver, std::uint32_t tile_count,
                                             std::uint64_t longest_tile_bytes) noexcept {
  std::uint64_t const pieces_a_tile = coding::deflate_piece_count(longest_tile_bytes);
  std::uint64_t const items = tile_count * pieces_a_tile;
  std::uint64_t const blocks = block_count(items);
  typename Format::Scratch scratch{};
  scratch.starts = carver.take<std::uint64_t>(tile_count * (pieces_a_tile + 1));
  scratch.words = carver.take<std::uint32_t>(items * Format::kPieceWords);
  scratch.sizes = carver.take<std::uint32_t>(items);
  scratch.tokens = carver.take<std::uint32_t>(blocks * coding::kDeflatePieceBytes);
  scratch.take(carver, items, tile_count, blocks);
  scratch.next_item = carver.take<std::uint32_t>(1);
  scratch.pieces_a_tile = pieces_a_tile;
  return scratch;
}

template <class Format>
[[nodiscard]] std::size_t scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  Carver carver(nullptr);
  (void)carve<Format>(carver, tile_count, longest_tile_bytes);
  return carver.enough();
}

template <class Format, std::uint32_t kLanes>
void launch_encode(tile::EncodeBatch const& batch, typename Format::Scratch const& scratch, std::uint32_t items,
                   cudaStream_t stream) {
  constexpr std::size_t kSharedBytes = sizeof(typename Format::Shared);
  auto const kernel = encode_kernel<Format, kLanes>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kSharedBytes)),
             "asking for shared memory to encode pieces of tiles");
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
      "asking for shared memory to encode pieces of tiles");
  auto const blocks = static_cast<std::uint32_t>(block_count(items));
  kernel<<<blocks, kThreads, kSharedBytes, stream>>>(batch, scratch, items);
  check_launch("encoding pieces of tiles");
}

template <class Format>
void encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* memory, std::size_t memory_bytes,
                  cudaStream_t stream) {
  if (batch.count == 0) { return; }
  if (memory_bytes < scratch_bytes<Format>(batch.count, batch.longest_input_bytes)) {
    throw Error(ErrorKind::usage, text(Format::kName, ": less scratch memory than the batch needs"));
  }
  Carver carver(memory);
  typename Format::Scratch const scratch = carve<Format>(carver, batch.count, batch.longest_input_bytes);
  std::uint64_t const all_items = batch.count * scratch.pieces_a_tile;
  constexpr std::uint64_t kMostItems = 0x7FFFFFFF;  // 64 TiB: more than any device holds
  if (all_items > kMostItems) {
    throw Error(ErrorKind::usage, text(Format::kName, ": a batch of more pieces than can be counted"));
  }
  auto const items = static_cast<std::uint32_t>(all_items);
  if (items != 0) {
    check_cuda(cudaMemsetAsync(scratch.next_item, 0, sizeof *scratch.next_item, stream), "clearing a count of pieces");
    switch (Format::lanes(level)) {
      case 1: launch_encode<Format, 1>(batch, scratch, items, stream); break;
      case 2: launch_encode<Format, 2>(batch, scratch, items, stream); break;
      default: launch_encode<Format, 4>(batch, scratch, items, stream); break;
    }
  }
  starts_kernel<Format><<<batch.count / kWarps + 1, kThreads, 0, stream>>>(batch, scratch);
  check_launch("adding up the pieces of tiles");
  if (items != 0) {
    join_kernel<Format><<<items, kThreads, 0, stream>>>(batch, scratch);
    check_launch("joining pieces of tiles");
  }
}

}  // namespace terrazzo::gpu::pieces
