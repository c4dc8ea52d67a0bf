// SPDX-License-Identifier: Apache-2.0
//
// Bytes between host and device through the pinned pool, on several threads: six times as fast as copies of pageable
// memory.
//
// Thread rule: functions are thread-safe; a RunUpload belongs to one thread.
#pragma once

#include "gpu/runtime/pinned_pool.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace terrazzo::gpu {

// Copies the first `bytes` of a chunk to the device in the order of `stream`; the chunk is free after the copy.
void send(PinnedPool::Chunk chunk, std::byte* to, std::size_t bytes, cudaStream_t stream, char const* doing);

// Uploads `bytes` bytes that `fill` writes to pinned memory: fill(at, into) writes bytes [at, at + into.size()). It is
// called from several threads, for pieces of `piece_bytes` and a shorter last one. On return all pieces are written,
// and the copies are complete in the order of `stream`. REQUIRES: 0 < piece_bytes <= PinnedPool::kChunkBytes.
using FillPinned = std::function<void(std::size_t at, std::span<std::byte> into)>;
void upload(std::size_t bytes, std::size_t piece_bytes, std::byte* to, unsigned threads, cudaStream_t stream,
            FillPinned const& fill);

// The same for bytes in memory. On return `from` may be reused.
void upload(std::span<std::byte const> from, std::byte* to, unsigned threads, cudaStream_t stream);

// Waits for `stream`, then copies. On return the bytes are there.
void download(std::byte const* from, std::span<std::byte> to, unsigned threads, cudaStream_t stream);

// Uploads bytes as one thread produces them: one copy for each run of neighbours, at most a chunk long.
class RunUpload {
 public:
  RunUpload(std::byte* to, cudaStream_t stream) noexcept : to_(to), stream_(stream) {}

  void append(std::uint64_t offset, std::span<std::byte const> bytes);
  void flush();  // after the last append()

 private:
  std::byte* to_;
  cudaStream_t stream_;
  std::optional<PinnedPool::Chunk> chunk_;
  std::uint64_t begin_ = 0;  // offset of the chunk's bytes
  std::size_t used_ = 0;
};

}  // namespace terrazzo::gpu
