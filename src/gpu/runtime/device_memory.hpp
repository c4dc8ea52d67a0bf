// SPDX-License-Identifier: Apache-2.0
//
// Owned pieces of device memory, and the way out of a shortage: memory kept for later use is freed first.
//
// Thread rule: functions are thread-safe; a DeviceBuffer belongs to one thread at a time.
#pragma once

#include "terrazzo/device.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace terrazzo::gpu {

// A function that frees memory of an allocator kept on the current device for later use; called if the allocator has
// too little. One per process; it must not take a lock that is held during an allocation.
using GiveBackKept = void (*)(DeviceAllocator& allocator);
void on_shortage(GiveBackKept give_back) noexcept;

// The available part of `wanted` bytes of scratch: the free memory except for a sixteenth, which covers the rounding of
// allocations and other memory of a read or write; and the unused memory of the pool.
[[nodiscard]] constexpr std::uint64_t scratch_room(std::uint64_t wanted, std::uint64_t free_bytes,
                                                   std::uint64_t unused_bytes) noexcept {
  std::uint64_t const room = free_bytes - free_bytes / 16 + unused_bytes;
  return wanted < room ? wanted : room;
}

// The available scratch of the current device now; if it is too little, memory kept for later use is freed first. The
// query of the driver is slow: do not call it for reads that allocate nothing. For a caller's allocator, whose memory
// is unknown, returns `wanted`.
[[nodiscard]] std::uint64_t scratch_room(std::uint64_t wanted, DeviceAllocator& allocator);

// One piece of device memory. Freed in the order of `stream`, which must outlive it; keeps the allocator alive. If
// memory is short, memory kept for later use is freed and the allocation is repeated; then it throws `limit`, with
// `what` in the text. If the device is lost, the memory is abandoned instead of freed.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::shared_ptr<DeviceAllocator> allocator, std::size_t bytes, cudaStream_t stream,
               char const* what = "scratch");
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : allocator_(std::move(other.allocator_)),
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
  [[nodiscard]] DeviceAllocator* allocator() const noexcept { return allocator_.get(); }

 private:
  std::shared_ptr<DeviceAllocator> allocator_{};
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace terrazzo::gpu
