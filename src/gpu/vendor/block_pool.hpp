// SPDX-License-Identifier: Apache-2.0
//
// Memory of a vendor library: allocated through hooks, so that the engine can count and refuse it, and kept in a pool,
// so that allocations stop after the first batches.
#pragma once

#include "gpu/runtime/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace terrazzo {
class DeviceAllocator;  // terrazzo/device.hpp
}

namespace terrazzo::gpu {

// The source of a pool's memory. Hooks do not throw; `allocate` returns null to refuse.
struct VendorAllocator {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t bytes, cudaStream_t stream) = nullptr;
  void (*release)(void* context, void* pointer, std::size_t bytes, cudaStream_t stream) = nullptr;
};

[[nodiscard]] VendorAllocator plain_device_allocator() noexcept;  // cudaMalloc
[[nodiscard]] VendorAllocator plain_pinned_allocator() noexcept;  // cudaHostAlloc

// Memory of the engine's or the caller's allocator, taken on a separate stream that is waited for: a block is valid on
// any stream, also if a library names none. Must outlive the decoders that use its hooks.
class AllocatorSource {
 public:
  explicit AllocatorSource(std::shared_ptr<DeviceAllocator> allocator);
  [[nodiscard]] VendorAllocator hooks() noexcept;

 private:
  std::shared_ptr<DeviceAllocator> allocator_;
  StreamHandle stream_;
};

// Keeps released blocks for the next request of about that size on the same stream: work that is still queued on the
// stream may use the block, so another stream must not get it. Pinned blocks are reused under the rule of the vendors'
// decoders: a decode state is idle before it is used again. Thread-safe.
class BlockPool {
 public:
  explicit BlockPool(VendorAllocator upstream) noexcept;
  ~BlockPool();  // frees all blocks; none may be in use
  BlockPool(BlockPool const&) = delete;
  BlockPool& operator=(BlockPool const&) = delete;

  // Returns null if the upstream refuses.
  [[nodiscard]] void* take(std::size_t bytes, cudaStream_t stream) noexcept;
  void give_back(void* pointer) noexcept;

  [[nodiscard]] std::size_t held_bytes() const noexcept;
  [[nodiscard]] std::uint64_t upstream_allocations() const noexcept;

  // Hooks in the form of nvJPEG and nvJPEG2000; the context is the pool. Return 0 on success.
  static int allocate_hook(void* pool, void** pointer, std::size_t bytes, cudaStream_t stream) noexcept;
  static int release_hook(void* pool, void* pointer, std::size_t bytes, cudaStream_t stream) noexcept;

 private:
  struct Block {
    void* pointer;
    std::size_t bytes;
    cudaStream_t stream;
    bool in_use;
  };

  VendorAllocator upstream_;
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;  // tens to hundreds: linear search
  std::size_t held_bytes_ = 0;
  std::uint64_t upstream_allocations_ = 0;
};

// A block of a pool that grows on request and is returned by the destructor.
class PoolBuffer {
 public:
  explicit PoolBuffer(BlockPool& pool) noexcept : pool_(&pool) {}
  ~PoolBuffer() { pool_->give_back(pointer_); }
  PoolBuffer(PoolBuffer const&) = delete;
  PoolBuffer& operator=(PoolBuffer const&) = delete;

  // Provides at least `bytes`, contents not kept; throws `limit`, with `what` in the text, if refused. The old block
  // must be idle.
  std::byte* reserve(std::size_t bytes, char const* what);

 private:
  BlockPool* pool_;
  std::byte* pointer_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace terrazzo::gpu
