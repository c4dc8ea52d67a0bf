// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/copy_back.hpp"

#include "gpu/runtime/check.hpp"

#include <atomic>

namespace terrazzo::gpu {

namespace {

std::atomic<std::uint64_t> copy_count{0}, byte_count{0};

}  // namespace

void copy_back(void* to, void const* from, std::size_t bytes, cudaStream_t stream, char const* doing) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), doing);
  copy_count.fetch_add(1, std::memory_order_relaxed);
  byte_count.fetch_add(bytes, std::memory_order_relaxed);
}

CopyCounts copies_back() noexcept {
  return {copy_count.load(std::memory_order_relaxed), byte_count.load(std::memory_order_relaxed)};
}

}  // namespace terrazzo::gpu
