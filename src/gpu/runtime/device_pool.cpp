// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_pool.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>

namespace terrazzo::gpu {

namespace {

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check_cuda(cudaMemPoolGetAttribute(pool, which, &value), "asking a memory pool");
  return value;
}

}  // namespace

DevicePool::DevicePool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check_cuda(cudaMemPoolCreate(&pool_, &properties), "making a memory pool");
  // Keep freed memory: mapping it again costs more than decoding into it.
  std::uint64_t keep = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
}

void* DevicePool::allocate(std::size_t bytes, StreamView stream) {
  void* memory = nullptr;
  cudaError_t const result = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream.get());
  if (result == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(ErrorKind::limit, text(bytes, " bytes are more than the GPU has left"));
  }
  check_cuda(result, "allocating device memory");
  return memory;
}

void DevicePool::deallocate(void* memory, std::size_t, StreamView stream) noexcept {
  (void)cudaFreeAsync(memory, stream.get());
}

std::uint64_t DevicePool::unused_bytes() const {
  std::uint64_t const used = attribute(pool_, cudaMemPoolAttrUsedMemCurrent);
  return std::max(attribute(pool_, cudaMemPoolAttrReservedMemCurrent), used) - used;  // used may grow in between
}

DeviceMemoryUse DevicePool::use() const {
  return {attribute(pool_, cudaMemPoolAttrUsedMemCurrent), attribute(pool_, cudaMemPoolAttrUsedMemHigh)};
}

void DevicePool::reset_peak() {
  std::uint64_t zero = 0;
  check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &zero), "resetting a memory pool's peak");
}

void DevicePool::trim() { check_cuda(cudaMemPoolTrimTo(pool_, 0), "giving device memory back"); }

}  // namespace terrazzo::gpu
