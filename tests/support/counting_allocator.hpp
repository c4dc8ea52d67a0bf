// SPDX-License-Identifier: Apache-2.0
//
// A caller's allocator that counts: stream-ordered memory like that of our own pool, but from another source. Slots of
// reads keep its memory for the next read.
#pragma once

#include "gpu/runtime/check.hpp"
#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace terrazzo::testing {

class CountingAllocator final : public DeviceAllocator {
 public:
  void* allocate(std::size_t bytes, StreamView stream) override {
    void* memory = nullptr;
    gpu::check_cuda(cudaMallocAsync(&memory, bytes, stream.get()), "test allocation");
    ++allocations;
    ++live;
    std::uint64_t const now = live_bytes += bytes;
    std::uint64_t most = peak_bytes;
    while (now > most && !peak_bytes.compare_exchange_weak(most, now)) {}
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, StreamView stream) noexcept override {
    (void)cudaFreeAsync(memory, stream.get());
    --live;
    live_bytes -= bytes;
  }

  std::atomic<int> allocations{0}, live{0};
  std::atomic<std::uint64_t> live_bytes{0}, peak_bytes{0};
};

}  // namespace terrazzo::testing
