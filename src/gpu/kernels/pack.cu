// SPDX-License-Identifier: Apache-2.0
//
// Blocks share a tile in pieces of equal size, and a chosen tile is a column of the grid: many small tiles and one huge
// one both fill the device. Bytes move 16 at a time where source and destination are aligned alike (they are, but for
// deflate tiles, which start two bytes before an aligned stream), else by 8, 4, 2 or 1.
#include "gpu/kernels/pack.hpp"

#include "gpu/runtime/check.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace terrazzo::gpu {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kPieceBytes = 32 * 1024;  // 8 vectors a thread; a multiple of 16, so that pieces keep alignment
constexpr std::uint64_t kMaxColumns = 65535;  // of a grid's second dimension
constexpr std::uint64_t kMaxPieces = 65536;  // a longer tile: each block takes several of its pieces

// `bytes` from `from` to `to`, by one block. Both addresses leave the same rest when divided by sizeof(Word).
template <class Word>
__device__ void copy_words(std::byte const* from, std::byte* to, std::uint64_t bytes) {
  std::uint64_t head = (sizeof(Word) - reinterpret_cast<std::uintptr_t>(from) % sizeof(Word)) % sizeof(Word);
  if (head > bytes) { head = bytes; }
  std::uint64_t const words = (bytes - head) / sizeof(Word);
  std::uint64_t const tail = head + words * sizeof(Word);
  if (threadIdx.x < head) { to[threadIdx.x] = from[threadIdx.x]; }
  auto const* const source = reinterpret_cast<Word const*>(from + head);
  auto* const target = reinterpret_cast<Word*>(to + head);
  for (std::uint64_t i = threadIdx.x; i < words; i += kThreads) { target[i] = source[i]; }
  if (tail + threadIdx.x < bytes) { to[tail + threadIdx.x] = from[tail + threadIdx.x]; }  // below one word
}

__device__ void copy_bytes(std::byte const* from, std::byte* to, std::uint64_t bytes) {
  std::uintptr_t const difference = reinterpret_cast<std::uintptr_t>(from) ^ reinterpret_cast<std::uintptr_t>(to);
  if (difference % 16 == 0) {
    copy_words<uint4>(from, to, bytes);
  } else if (difference % 8 == 0) {
    copy_words<std::uint64_t>(from, to, bytes);
  } else if (difference % 4 == 0) {
    copy_words<std::uint32_t>(from, to, bytes);
  } else if (difference % 2 == 0) {
    copy_words<std::uint16_t>(from, to, bytes);
  } else {
    copy_words<std::uint8_t>(from, to, bytes);
  }
}

__global__ void __launch_bounds__(kThreads) pack_kernel(tile::DeviceTiles tiles, PackList list) {
  for (std::uint64_t chosen = blockIdx.y; chosen < list.count; chosen += gridDim.y) {
    std::uint32_t const tile = list.tiles[chosen];
    if (tile >= tiles.count) { continue; }
    std::uint64_t const bytes = tiles.input_sizes[tile];
    std::byte const* const from = tiles.input + tiles.input_offsets[tile];
    std::byte* const to = list.packed + list.packed_offsets[chosen];
    for (std::uint64_t at = blockIdx.x * kPieceBytes; at < bytes; at += gridDim.x * kPieceBytes) {
      std::uint64_t const left = bytes - at;
      copy_bytes(from + at, to + at, left < kPieceBytes ? left : kPieceBytes);
    }
  }
}

}  // namespace

void pack_tiles(tile::DeviceTiles const& tiles, PackList const& list, cudaStream_t stream) {
  if (list.count == 0 || list.longest_bytes == 0) { return; }
  std::uint64_t const pieces = list.longest_bytes / kPieceBytes + (list.longest_bytes % kPieceBytes != 0 ? 1 : 0);
  dim3 const grid(static_cast<unsigned>(std::min(pieces, kMaxPieces)),
                  static_cast<unsigned>(std::min<std::uint64_t>(list.count, kMaxColumns)));
  pack_kernel<<<grid, kThreads, 0, stream>>>(tiles, list);
  check_launch("packing tiles");
}

}  // namespace terrazzo::gpu
