// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory, which the device copies from at full speed. It is slow to make (0.5 s a GiB), so there is one
// small pool of equal chunks, made as it is first needed, that lives as long as the process.
#pragma once

#include "gpu/runtime/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace terrazzo::gpu {

// Freed with cudaFreeHost, which waits for the GPU; abandoned when the GPU is lost.
struct FreePinned {
  void operator()(std::byte* memory) const noexcept;
};
using PinnedMemory = std::unique_ptr<std::byte, FreePinned>;
[[nodiscard]] PinnedMemory make_pinned(std::size_t bytes);

class PinnedPool {
 public:
  // 64 MiB together: sixteen threads, each with one to fill and one on its way. Larger or more of them gained nothing.
  static constexpr std::size_t kChunkBytes = 2u << 20;
  static constexpr std::size_t kMaxChunks = 32;

  static PinnedPool& instance();

  // One chunk, the caller's alone. Goes back by itself; release(stream) makes it wait for the copies on that stream.
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

  // Frees chunks that nobody holds.
  void trim();

 private:
  PinnedPool();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
