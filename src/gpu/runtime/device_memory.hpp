// SPDX-License-Identifier: Apache-2.0
//
// Device memory: where it comes from and who owns it.
#pragma once

#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace terrazzo::gpu {

// Of one process; what is kept for each lies in tables of this size.
inline constexpr std::size_t kMaxDevices = 64;

// A stream-ordered pool of our own for the current device; what is given back to it stays with the process.
[[nodiscard]] DeviceAllocator& pool_allocator();

// What the pool keeps and nobody uses: free memory, though the driver does not call it so.
[[nodiscard]] std::uint64_t pool_unused_bytes();

// What is taken from the pool, now and at most since the last reset.
[[nodiscard]] DeviceMemoryUse pool_use();
void reset_pool_peak();

// Gives what the pool holds unused back to the driver.
void trim_pool();

// Who keeps memory of an allocator on the current device for later, and gives it back when the allocator is refused
// more. One for the process; it must hold no lock that an allocation is made under.
using GiveBackKept = void (*)(DeviceAllocator& allocator);
void on_shortage(GiveBackKept give_back) noexcept;

// Of `wanted` bytes of scratch, what can be had: of what is free all but a sixteenth, which allocations are rounded by
// and which a read or write takes besides; and what the pool holds unused.
[[nodiscard]] constexpr std::uint64_t scratch_room(std::uint64_t wanted, std::uint64_t free_bytes,
                                                   std::uint64_t unused_bytes) noexcept {
  std::uint64_t const room = free_bytes - free_bytes / 16 + unused_bytes;
  return wanted < room ? wanted : room;
}

// The same for the current device, now; what is kept for later goes first when it is too little. Asking the driver is
// slow: not for reads that allocate nothing. A caller's allocator alone knows what it has: `wanted`.
[[nodiscard]] std::uint64_t scratch_room(std::uint64_t wanted, DeviceAllocator& allocator);

// One piece of device memory. Freed in the order of `stream`, which must outlive it. When there is none left, what is
// kept for later goes and it is asked for again; then it is a `limit` error that names `what`. Abandoned, not freed,
// when the device is lost.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream, char const* what = "scratch");
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : allocator_(std::exchange(other.allocator_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        stream_(other.stream_) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~DeviceBuffer();

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  [[nodiscard]] DeviceAllocator* allocator() const noexcept { return allocator_; }

 private:
  DeviceAllocator* allocator_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace terrazzo::gpu
