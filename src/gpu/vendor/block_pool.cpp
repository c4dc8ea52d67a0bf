// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/block_pool.hpp"

#include "base/text.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <limits>
#include <new>
#include <utility>

namespace terrazzo::gpu {
namespace {

constexpr std::size_t kSmallestBlockBytes = 4096;
// A block may serve a request down to this fraction of its size.
constexpr std::size_t kMaxWaste = 2;

// Sizes are rounded to an eighth of their power of two, so that similar requests share blocks.
std::size_t rounded(std::size_t bytes) noexcept {
  if (bytes <= kSmallestBlockBytes) { return kSmallestBlockBytes; }
  std::size_t const step = std::bit_floor(bytes) / 8;
  return bytes > std::numeric_limits<std::size_t>::max() - step ? bytes : (bytes + step - 1) / step * step;
}

void* device_allocate(void*, std::size_t bytes, cudaStream_t) {
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, bytes) != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return pointer;
}

// Freeing waits for the GPU: abandon the memory if the GPU is lost.
void device_release(void*, void* pointer, std::size_t, cudaStream_t) {
  if (!device_is_lost()) { (void)cudaFree(pointer); }
}

void* pinned_allocate(void*, std::size_t bytes, cudaStream_t) {
  void* pointer = nullptr;
  if (cudaHostAlloc(&pointer, bytes, cudaHostAllocDefault) != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return pointer;
}

void pinned_release(void*, void* pointer, std::size_t, cudaStream_t) {
  if (!device_is_lost()) { (void)cudaFreeHost(pointer); }
}

}  // namespace

VendorAllocator plain_device_allocator() noexcept { return {nullptr, &device_allocate, &device_release}; }
VendorAllocator plain_pinned_allocator() noexcept { return {nullptr, &pinned_allocate, &pinned_release}; }

AllocatorSource::AllocatorSource(std::shared_ptr<DeviceAllocator> allocator)
    : allocator_(std::move(allocator)), stream_(make_stream()) {}

VendorAllocator AllocatorSource::hooks() noexcept {
  return {this,
          [](void* self, std::size_t bytes, cudaStream_t) -> void* {
            auto const& source = *static_cast<AllocatorSource*>(self);
            try {
              void* const memory = source.allocator_->allocate(bytes, source.stream_.get());
              if (sync_quietly(source.stream_.get())) { return memory; }
              source.allocator_->deallocate(memory, bytes, source.stream_.get());
            } catch (std::exception const&) {  // a refusal; the decoder reports its purpose
            }
            return nullptr;
          },
          [](void* self, void* memory, std::size_t bytes, cudaStream_t) {
            auto const& source = *static_cast<AllocatorSource*>(self);
            source.allocator_->deallocate(memory, bytes, source.stream_.get());
          }};
}

BlockPool::BlockPool(VendorAllocator upstream) noexcept : upstream_(upstream) {}

BlockPool::~BlockPool() {
  for (Block const& block : blocks_) { upstream_.release(upstream_.context, block.pointer, block.bytes, block.stream); }
}

void* BlockPool::take(std::size_t bytes, cudaStream_t stream) noexcept {
  std::size_t const wanted = rounded(bytes);
  std::lock_guard const lock(mutex_);
  Block* best = nullptr;
  for (Block& block : blocks_) {
    bool const fits =
        !block.in_use && block.stream == stream && block.bytes >= wanted && block.bytes / kMaxWaste <= wanted;
    if (fits && (best == nullptr || block.bytes < best->bytes)) { best = &block; }
  }
  if (best != nullptr) {
    best->in_use = true;
    return best->pointer;
  }
  try {
    blocks_.reserve(blocks_.size() + 1);
  } catch (std::bad_alloc const&) { return nullptr; }
  void* const pointer = upstream_.allocate(upstream_.context, wanted, stream);
  if (pointer == nullptr) { return nullptr; }
  blocks_.push_back({pointer, wanted, stream, true});
  held_bytes_ += wanted;
  ++upstream_allocations_;
  return pointer;
}

void BlockPool::give_back(void* pointer) noexcept {
  if (pointer == nullptr) { return; }
  std::lock_guard const lock(mutex_);
  auto const at = std::find_if(blocks_.begin(), blocks_.end(), [&](Block const& b) { return b.pointer == pointer; });
  if (at != blocks_.end()) { at->in_use = false; }
}

std::size_t BlockPool::held_bytes() const noexcept {
  std::lock_guard const lock(mutex_);
  return held_bytes_;
}

std::uint64_t BlockPool::upstream_allocations() const noexcept {
  std::lock_guard const lock(mutex_);
  return upstream_allocations_;
}

int BlockPool::allocate_hook(void* pool, void** pointer, std::size_t bytes, cudaStream_t stream) noexcept {
  *pointer = static_cast<BlockPool*>(pool)->take(bytes, stream);
  return *pointer == nullptr ? 1 : 0;
}

int BlockPool::release_hook(void* pool, void* pointer, std::size_t, cudaStream_t) noexcept {
  static_cast<BlockPool*>(pool)->give_back(pointer);
  return 0;
}

std::byte* PoolBuffer::reserve(std::size_t bytes, char const* what) {
  if (bytes <= bytes_) { return pointer_; }
  pool_->give_back(pointer_);
  bytes_ = 0;
  pointer_ = static_cast<std::byte*>(pool_->take(bytes, nullptr));
  if (pointer_ == nullptr) { throw Error(ErrorKind::limit, text(what, ": ", bytes, " bytes were refused")); }
  bytes_ = bytes;
  return pointer_;
}

}  // namespace terrazzo::gpu
