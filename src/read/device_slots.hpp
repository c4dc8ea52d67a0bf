// SPDX-License-Identifier: Apache-2.0
//
// What a batch needs while it is on its way: a stream, device memory, pinned memory for what it must tell the device.
// Slots are kept for the next read, so that a read that follows another of its kind allocates nothing.
#pragma once

#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "read/bring_back.hpp"
#include "read/device_decoders.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::reading {

struct DeviceSlot {
  gpu::StreamHandle stream = gpu::make_stream();
  gpu::EventHandle done = gpu::make_event();
  gpu::DeviceBuffer memory;      // input, output, scratch and control of one batch
  gpu::DeviceBuffer constants;   // what all batches of a read share, in its first slot
  gpu::PinnedMemory control;     // offsets, sizes, placements, statuses
  std::size_t control_bytes = 0;
  gpu::PinnedMemory input;       // for decoders that take their input from the host
  std::size_t input_bytes = 0;
  ReturnBuffer returned;         // for compressed tiles that come back
  std::unique_ptr<HostInputDecoders> decoders;
  DeviceAllocator* decoders_allocator = nullptr;
  int device = 0;

  // The slot must be idle. Memory that is kept from an earlier read is used as it is, unless it is over `max_bytes`.
  void reserve_memory(DeviceAllocator& allocator, std::size_t bytes, std::size_t max_bytes);
  void reserve_constants(DeviceAllocator& allocator, std::size_t bytes);
  void reserve_control(std::size_t bytes);
  void reserve_input(std::size_t bytes);
  void reserve_decoders(DeviceAllocator& allocator);
};

// Slots of the current device; they go back to the cache at the end.
class SlotLease {
 public:
  SlotLease(std::size_t count, DeviceAllocator& allocator);
  ~SlotLease();
  SlotLease(SlotLease const&) = delete;
  SlotLease& operator=(SlotLease const&) = delete;

  [[nodiscard]] DeviceSlot& operator[](std::size_t index) noexcept { return *slots_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

 private:
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

// Frees every slot that is not in use.
void release_slots();

}  // namespace terrazzo::reading
