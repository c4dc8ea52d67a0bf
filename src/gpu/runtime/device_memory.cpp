// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_memory.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/result_memory.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

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
    // Keep freed memory: mapping it again costs more than decoding into it.
    std::uint64_t keep = UINT64_MAX;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
  }

  void* allocate(std::size_t bytes, StreamView stream) override {
    void* memory = nullptr;
    cudaError_t const result = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream.get());
    if (result == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw Error(ErrorKind::limit, text(bytes, " bytes are more than the GPU has left"));
    }
    check_cuda(result, "allocating device memory");
    return memory;
  }

  void deallocate(void* memory, std::size_t, StreamView stream) noexcept override {
    (void)cudaFreeAsync(memory, stream.get());
  }

  [[nodiscard]] std::uint64_t unused_bytes() const {
    std::uint64_t const used = attribute(cudaMemPoolAttrUsedMemCurrent);
    return std::max(attribute(cudaMemPoolAttrReservedMemCurrent), used) - used;  // used may grow in between
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
  cudaMemPool_t pool_ = nullptr;  // never destroyed: at exit the driver may unload first
};

std::shared_ptr<PoolAllocator> const& current_pool() {
  static std::mutex mutex;
  static auto* const pools = new std::array<std::shared_ptr<PoolAllocator>, kMaxDevices>;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  std::lock_guard const lock(mutex);
  auto& pool = pools->at(static_cast<std::size_t>(device));
  if (!pool) { pool = std::make_shared<PoolAllocator>(device); }
  return pool;
}

std::atomic<GiveBackKept> keeper{nullptr};

void give_back_kept(DeviceAllocator& allocator) {
  free_finished_results();
  if (GiveBackKept const give_back = keeper.load()) { give_back(allocator); }
  if (auto* const pool = dynamic_cast<PoolAllocator*>(&allocator)) { pool->trim(); }
}

std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return free_bytes;
}

// Returns false if there is too little memory; passes on other failures.
bool allocated(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream, void*& memory) {
  try {
    memory = allocator.allocate(bytes, stream);
    return true;
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::limit) { throw; }
  } catch (std::bad_alloc const&) {  // thrown by callers' allocators
  }
  return false;
}

void* allocate_or_make_room(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream, char const* what) {
  void* memory = nullptr;
  if (allocated(allocator, bytes, stream, memory)) { return memory; }
  give_back_kept(allocator);
  if (allocated(allocator, bytes, stream, memory)) { return memory; }
  if (wait_for_pending_results() && allocated(allocator, bytes, stream, memory)) { return memory; }
  throw Error(ErrorKind::limit, text(what, ": ", bytes, " bytes of device memory are more than the GPU has left"));
}

}  // namespace

std::shared_ptr<DeviceAllocator> pool_allocator() { return current_pool(); }

std::uint64_t pool_unused_bytes() { return current_pool()->unused_bytes(); }

DeviceMemoryUse pool_use() {
  PoolAllocator const& pool = *current_pool();
  return {pool.attribute(cudaMemPoolAttrUsedMemCurrent), pool.attribute(cudaMemPoolAttrUsedMemHigh)};
}

void reset_pool_peak() { current_pool()->reset_peak(); }

void trim_pool() { current_pool()->trim(); }

void on_shortage(GiveBackKept give_back) noexcept { keeper = give_back; }

std::uint64_t scratch_room(std::uint64_t wanted, DeviceAllocator& allocator) {
  auto const* const pool = dynamic_cast<PoolAllocator const*>(&allocator);
  if (pool == nullptr) { return wanted; }
  if (scratch_room(wanted, free_device_bytes(), pool->unused_bytes()) == wanted) { return wanted; }
  give_back_kept(allocator);
  return scratch_room(wanted, free_device_bytes(), pool->unused_bytes());
}

DeviceBuffer::DeviceBuffer(std::shared_ptr<DeviceAllocator> allocator, std::size_t bytes, cudaStream_t stream,
                           char const* what)
    : allocator_(std::move(allocator)),
      data_(allocate_or_make_room(*allocator_, bytes, stream, what)),
      bytes_(bytes),
      stream_(stream) {}

DeviceBuffer::~DeviceBuffer() {
  // A caller's allocator may wait for the GPU.
  if (data_ != nullptr && !device_is_lost()) { allocator_->deallocate(data_, bytes_, stream_); }
}

}  // namespace terrazzo::gpu
