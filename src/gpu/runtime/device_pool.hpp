// SPDX-License-Identifier: Apache-2.0
//
// The library's stream-ordered pool of memory on one GPU. The process keeps memory that is returned to it. Thread-safe.
#pragma once

#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

class DevicePool final : public DeviceAllocator {
 public:
  explicit DevicePool(int device);  // throws `device` without that GPU

  [[nodiscard]] void* allocate(std::size_t bytes, StreamView stream) override;
  void deallocate(void* memory, std::size_t bytes, StreamView stream) noexcept override;

  // Unused memory of the pool: it is available to us, although the driver counts it as used.
  [[nodiscard]] std::uint64_t unused_bytes() const;

  // Memory taken from the pool: now, and the maximum since the last reset.
  [[nodiscard]] DeviceMemoryUse use() const;
  void reset_peak();

  // Returns unused memory to the driver.
  void trim();

 private:
  cudaMemPool_t pool_ = nullptr;  // never destroyed: at exit the driver may unload first
};

}  // namespace terrazzo::gpu
