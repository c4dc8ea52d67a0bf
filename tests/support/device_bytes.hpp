// SPDX-License-Identifier: Apache-2.0
//
// Device memory of a test. Every call is complete when it returns, and uses its own stream.
#pragma once

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <vector>

namespace terrazzo::testing {

class DeviceBytes {
 public:
  // Filled with a pattern.
  explicit DeviceBytes(std::size_t bytes, int pattern = 0xCD) : bytes_(bytes) {
    allocate();
    gpu::check_cuda(cudaMemsetAsync(data_, pattern, bytes_, stream_.get()), "test fill");
    wait();
  }
  // A copy of these bytes.
  explicit DeviceBytes(std::span<std::byte const> bytes) : bytes_(bytes.size()) {
    allocate();
    copy(data_, bytes.data(), cudaMemcpyHostToDevice);
  }
  DeviceBytes(DeviceBytes const&) = delete;
  DeviceBytes& operator=(DeviceBytes const&) = delete;
  ~DeviceBytes() { (void)cudaFree(data_); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::vector<std::byte> back() const {
    std::vector<std::byte> bytes(bytes_);
    copy(bytes.data(), data_, cudaMemcpyDeviceToHost);
    return bytes;
  }

 private:
  void allocate() {
    void* memory = nullptr;
    gpu::check_cuda(cudaMalloc(&memory, bytes_ == 0 ? 1 : bytes_), "test allocation");
    data_ = static_cast<std::byte*>(memory);
  }
  void copy(void* to, void const* from, cudaMemcpyKind kind) const {
    if (bytes_ == 0) { return; }
    gpu::check_cuda(cudaMemcpyAsync(to, from, bytes_, kind, stream_.get()), "test copy");
    wait();
  }
  void wait() const { gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "test copy"); }

  gpu::StreamHandle stream_ = gpu::make_stream();
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace terrazzo::testing
