// SPDX-License-Identifier: Apache-2.0
//
// Copies bytes with one block of kCopyThreads threads: 16 at a time if source and destination have the same alignment,
// otherwise by 8, 4, 2 or 1. Kernels that gather tiles share it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

inline constexpr std::uint32_t kCopyThreads = 256;
// Bytes that a block copies at a time: 8 vectors per thread; a multiple of 16, so that pieces keep alignment.
inline constexpr std::uint64_t kCopyPieceBytes = 32 * 1024;

// Copies `bytes` from `from` to `to`. Both addresses are congruent modulo sizeof(Word).
template <class Word>
__device__ void copy_words(std::byte const* from, std::byte* to, std::uint64_t bytes) {
  std::uint64_t head = (sizeof(Word) - reinterpret_cast<std::uintptr_t>(from) % sizeof(Word)) % sizeof(Word);
  if (head > bytes) { head = bytes; }
  std::uint64_t const words = (bytes - head) / sizeof(Word);
  std::uint64_t const tail = head + words * sizeof(Word);
  if (threadIdx.x < head) { to[threadIdx.x] = from[threadIdx.x]; }
  auto const* const source = reinterpret_cast<Word const*>(from + head);
  auto* const target = reinterpret_cast<Word*>(to + head);
  for (std::uint64_t i = threadIdx.x; i < words; i += kCopyThreads) { target[i] = source[i]; }
  if (tail + threadIdx.x < bytes) { to[tail + threadIdx.x] = from[tail + threadIdx.x]; }  // less than one word
}

__device__ inline void copy_bytes(std::byte const* from, std::byte* to, std::uint64_t bytes) {
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

// Copies this block's pieces of `bytes`; the blocks of a grid's first dimension share them.
__device__ inline void copy_pieces(std::byte const* from, std::byte* to, std::uint64_t bytes) {
  for (std::uint64_t at = blockIdx.x * kCopyPieceBytes; at < bytes; at += gridDim.x * kCopyPieceBytes) {
    std::uint64_t const left = bytes - at;
    copy_bytes(from + at, to + at, left < kCopyPieceBytes ? left : kCopyPieceBytes);
  }
}

// The grid for items of at most `longest_bytes`, one item per column: it fills the device for many small items and for
// a huge one. Kernels loop over columns and pieces, so the grid may be smaller than either.
inline dim3 copy_grid(std::uint64_t count, std::uint64_t longest_bytes) {
  constexpr std::uint64_t kMaxColumns = 65535;  // limit of a grid's second dimension
  constexpr std::uint64_t kMaxPieces = 65536;
  std::uint64_t const pieces = longest_bytes / kCopyPieceBytes + (longest_bytes % kCopyPieceBytes != 0 ? 1 : 0);
  return {static_cast<unsigned>(pieces < kMaxPieces ? pieces : kMaxPieces),
          static_cast<unsigned>(count < kMaxColumns ? count : kMaxColumns), 1};
}

}  // namespace terrazzo::gpu
