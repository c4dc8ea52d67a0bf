// SPDX-License-Identifier: Apache-2.0
//
// A caller's allocator that counts. Slots keep its memory for the next read: release_device_memory() before it goes.
#pragma once

#include "gpu/runtime/check.hpp"
#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading::test {

class CountingAllocator final : public DeviceAllocator {
 public:
  void* allocate(std::size_t bytes, void*) override {
    void* memory = nullptr;
    gpu::check_cuda(cudaMalloc(&memory, bytes), "test allocation");
    ++allocations;
    ++live;
    live_bytes += bytes;
    std::uint64_t const now = live_bytes;
    if (now > peak_bytes) { peak_bytes = now; }
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, void*) noexcept override {
    (void)cudaFree(memory);
    --live;
    live_bytes -= bytes;
  }

  std::atomic<int> allocations{0}, live{0};
  std::atomic<std::uint64_t> live_bytes{0}, peak_bytes{0};
};

// Device memory of a test's own, filled with a pattern.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes, int pattern = 0xCD) : bytes_(bytes) {
    void* memory = nullptr;
    gpu::check_cuda(cudaMalloc(&memory, bytes), "test allocation");
    data_ = static_cast<std::byte*>(memory);
    gpu::check_cuda(cudaMemset(data_, pattern, bytes), "test fill");
    gpu::check_cuda(cudaDeviceSynchronize(), "test fill");
  }
  DeviceBytes(DeviceBytes const&) = delete;
  DeviceBytes& operator=(DeviceBytes const&) = delete;
  ~DeviceBytes() { (void)cudaFree(data_); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::vector<std::byte> back() const {
    std::vector<std::byte> bytes(bytes_);
    gpu::check_cuda(cudaMemcpy(bytes.data(), data_, bytes_, cudaMemcpyDeviceToHost), "test download");
    return bytes;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace terrazzo::reading::test
