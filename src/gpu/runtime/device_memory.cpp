// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_memory.hpp"

#include "gpu/runtime/check.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

namespace terrazzo::gpu {

namespace {

class PoolAllocator final : public DeviceAllocator {
 public:
  explicit PoolAllocator(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check_cuda(cudaMemPoolCreate(&pool_, &properties), "making a memory pool");
    // Freed memory is kept: mapping it anew costs more than decoding into it.
    std::uint64_t keep = UINT64_MAX;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
  }

  void* allocate(std::size_t bytes, void* stream) override {
    void* memory = nullptr;
    check_cuda(cudaMallocFromPoolAsync(&memory, bytes, pool_, static_cast<cudaStream_t>(stream)),
               "allocating device memory");
    return memory;
  }

  void deallocate(void* memory, std::size_t, void* stream) noexcept override {
    (void)cudaFreeAsync(memory, static_cast<cudaStream_t>(stream));
  }

  [[nodiscard]] std::uint64_t attribute(cudaMemPoolAttr which) const {
    std::uint64_t value = 0;
    check_cuda(cudaMemPoolGetAttribute(pool_, which, &value), "asking a memory pool");
    return value;
  }

  void reset_peak() {
    std::uint64_t zero = 0;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero), "resetting a memory pool's peak");
  }

  void trim() { check_cuda(cudaMemPoolTrimTo(pool_, 0), "giving device memory back"); }

 private:
  cudaMemPool_t pool_ = nullptr;  // as long as the process: at exit the driver may be gone before us
};

constexpr int kMaxDevices = 64;

PoolAllocator& current_pool() {
  static std::mutex mutex;
  static auto* const pools = new std::array<std::unique_ptr<PoolAllocator>, kMaxDevices>;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  std::lock_guard const lock(mutex);
  auto& pool = pools->at(static_cast<std::size_t>(device));
  if (!pool) { pool = std::make_unique<PoolAllocator>(device); }
  return *pool;
}

}  // namespace

DeviceAllocator& pool_allocator() { return current_pool(); }

std::uint64_t pool_unused_bytes() {
  PoolAllocator const& pool = current_pool();
  return pool.attribute(cudaMemPoolAttrReservedMemCurrent) - pool.attribute(cudaMemPoolAttrUsedMemCurrent);
}

DeviceMemoryUse pool_use() {
  PoolAllocator const& pool = current_pool();
  return {pool.attribute(cudaMemPoolAttrUsedMemCurrent), pool.attribute(cudaMemPoolAttrUsedMemHigh)};
}

void reset_pool_peak() { current_pool().reset_peak(); }

void trim_pool() { current_pool().trim(); }

DeviceBuffer::DeviceBuffer(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream)
    : allocator_(&allocator), data_(allocator.allocate(bytes, stream)), bytes_(bytes), stream_(stream) {}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) { allocator_->deallocate(data_, bytes_, stream_); }
}

}  // namespace terrazzo::gpu
