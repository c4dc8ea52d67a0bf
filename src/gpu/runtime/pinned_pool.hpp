// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory, from which the device copies at full speed. Allocating it is slow (0.5 s per GiB), so there is
// one small pool of equal chunks, allocated on first use, that lives as long as the process.
//
// Thread rule: the pool is thread-safe; a chunk belongs to one thread at a time.
#pragma once

#include "gpu/runtime/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace terrazzo::gpu {

// Frees with cudaFreeHost, which waits for the GPU; abandons the memory if the GPU is lost.
struct FreePinned {
  void operator()(std::byte* memory) const noexcept;
};
using PinnedMemory = std::unique_ptr<std::byte, FreePinned>;
[[nodiscard]] PinnedMemory make_pinned(std::size_t bytes);

class PinnedPool {
 public:
  // 64 MiB in total: sixteen threads, each with one chunk to fill and one being copied. Larger or more chunks gained
  // nothing.
  static constexpr std::size_t kChunkBytes = 2u << 20;
  static constexpr std::size_t kMaxChunks = 32;

  static PinnedPool& instance();

  // One chunk, owned by the caller. The destructor returns it. release_after(stream) returns it too; it is reused
  // when the copies on that stream are done.
  class Chunk {
   public:
    Chunk() = default;
    Chunk(Chunk&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), index_(other.index_) {}
    Chunk& operator=(Chunk&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(index_, other.index_);
      return *this;
    }
    ~Chunk();
    [[nodiscard]] std::byte* data() const noexcept;
    void release_after(cudaStream_t stream);

   private:
    friend class PinnedPool;
    Chunk(PinnedPool* pool, std::size_t index) noexcept : pool_(pool), index_(index) {}
    PinnedPool* pool_ = nullptr;
    std::size_t index_ = 0;
  };

  // Waits until a chunk is free and its last copy is done.
  [[nodiscard]] Chunk acquire();

  // Frees unused chunks.
  void trim();

 private:
  PinnedPool();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
