// SPDX-License-Identifier: Apache-2.0
//
// The resources of a batch in flight: a stream, device memory, and pinned memory for its control data. Slots are kept
// for the next read, so that a read of similar size allocates nothing.
//
// Thread rule: the list of kept slots is thread-safe; a slot belongs to one read.
#pragma once

#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "read/device/decoders.hpp"
#include "read/device/fallback/packed_return.hpp"

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
  gpu::DeviceBuffer constants;   // data shared by all batches of a read, in its first slot
  gpu::PinnedMemory control;     // offsets, sizes, placements, statuses
  std::size_t control_bytes = 0;
  gpu::PinnedMemory input;       // for decoders that read their input from host memory
  std::size_t input_bytes = 0;
  ReturnBuffer returned;         // for compressed tiles that are returned to the host
  std::unique_ptr<HostInputDecoders> decoders;
  DeviceAllocator const* decoders_allocator = nullptr;  // kept alive by the decoders

  // REQUIRES: the slot is idle. Keeps memory from an earlier read unless it is larger than `max_bytes`: then frees it
  // and waits for the free.
  void drop_memory_over(std::size_t max_bytes);
  void reserve_memory(std::shared_ptr<DeviceAllocator> const& allocator, std::size_t bytes);
  void reserve_constants(std::shared_ptr<DeviceAllocator> const& allocator, std::size_t bytes);
  void reserve_control(std::size_t bytes);
  void reserve_input(std::size_t bytes);
  void reserve_decoders(std::shared_ptr<DeviceAllocator> const& allocator);
};

// Slots of the context's device, which is current; the destructor returns them to the context.
class SlotLease {
 public:
  SlotLease(gpu::DeviceContext& context, std::size_t count, std::shared_ptr<DeviceAllocator> allocator);
  ~SlotLease();
  SlotLease(SlotLease const&) = delete;
  SlotLease& operator=(SlotLease const&) = delete;

  // Allocates memory for every slot, before any other allocation of the read. Together with memory kept from earlier
  // reads, here and in idle slots of this context and allocator, the total stays within `budget_bytes`: surplus memory
  // is freed first. REQUIRES: the sum of `slot_bytes` is within the budget.
  void reserve_memory(std::span<std::size_t const> slot_bytes, std::uint64_t budget_bytes);

  [[nodiscard]] DeviceSlot& operator[](std::size_t index) noexcept { return *slots_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

 private:
  gpu::DeviceContext& context_;
  std::shared_ptr<DeviceAllocator> allocator_;
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

// Device memory of this allocator that idle slots of the context keep.
[[nodiscard]] std::uint64_t idle_slot_bytes(gpu::DeviceContext& context, DeviceAllocator const& allocator);

// Frees every slot of the context that is not in use. REQUIRES: its device is current.
void release_slots(gpu::DeviceContext& context);

}  // namespace terrazzo::reading
