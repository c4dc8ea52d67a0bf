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
#include <cstdint>
#include <memory>
#include <span>
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

  // The slot must be idle. Memory that is kept from an earlier read is used as it is, unless it is over `max_bytes`:
  // then it is given back, and waited for.
  void drop_memory_over(std::size_t max_bytes);
  void reserve_memory(DeviceAllocator& allocator, std::size_t bytes);
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

  // Memory for every slot, before anything else of the read is allocated. With what is kept from earlier reads, here
  // and in idle slots of this device and allocator, it is never over `budget_bytes`: what is too much goes first.
  // REQUIRES: the sum of `slot_bytes` is within the budget.
  void reserve_memory(std::span<std::size_t const> slot_bytes, std::uint64_t budget_bytes);

  [[nodiscard]] DeviceSlot& operator[](std::size_t index) noexcept { return *slots_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

 private:
  DeviceAllocator& allocator_;
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

// Device memory of this allocator that idle slots of the current device keep.
[[nodiscard]] std::uint64_t idle_slot_bytes(DeviceAllocator& allocator);

// Frees every slot that is not in use.
void release_slots();

}  // namespace terrazzo::reading
