// SPDX-License-Identifier: Apache-2.0
#include "read/device/slots.hpp"

#include "gpu/runtime/guarded_wait.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

namespace terrazzo::reading {

namespace {

void release_on_shortage(DeviceAllocator& allocator);

// The idle slots of one context.
struct IdleSlots {
  explicit IdleSlots(gpu::DeviceContext const&) { gpu::on_shortage(&release_on_shortage); }
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceSlot>> slots;
};

bool keeps_memory_of(DeviceSlot const& slot, DeviceAllocator const& allocator) noexcept {
  return slot.memory.allocator() == &allocator || slot.constants.allocator() == &allocator ||
         (slot.decoders && slot.decoders_allocator == &allocator);
}

std::uint64_t kept_bytes(DeviceSlot const& slot) noexcept {
  return std::uint64_t{slot.memory.size_bytes()} + slot.constants.size_bytes();
}

// Before the host has seen a free complete, the memory can be neither trimmed nor counted.
void release(std::vector<std::unique_ptr<DeviceSlot>> const& slots) noexcept {
  for (auto const& slot : slots) {
    slot->decoders.reset();
    slot->memory = {};
    slot->constants = {};
    (void)gpu::sync_quietly(slot->stream.get());
  }
}

// Releases the context's idle slots with memory of this allocator; frees the memory without holding the lock.
void release_idle_of(gpu::DeviceContext& context, DeviceAllocator const& allocator) {
  std::vector<std::unique_ptr<DeviceSlot>> released;
  {
    IdleSlots& kept = context.part<IdleSlots>();
    std::lock_guard const lock(kept.mutex);
    auto& idle = kept.slots;
    auto const others = std::ranges::stable_partition(
        idle, [&](std::unique_ptr<DeviceSlot> const& slot) { return !keeps_memory_of(*slot, allocator); });
    released.assign(std::move_iterator(others.begin()), std::move_iterator(others.end()));
    idle.erase(others.begin(), others.end());
  }
  release(released);
}

void release_on_shortage(DeviceAllocator& allocator) {
  if (gpu::DeviceContext* const context = gpu::find_current_context()) { release_idle_of(*context, allocator); }
}

}  // namespace

void DeviceSlot::drop_memory_over(std::size_t max_bytes) {
  if (memory.size_bytes() <= max_bytes) { return; }
  memory = {};
  gpu::sync_stream(stream.get(), "giving scratch back");
}

void DeviceSlot::reserve_memory(std::shared_ptr<DeviceAllocator> const& allocator, std::size_t bytes) {
  if (memory.allocator() == allocator.get() && memory.size_bytes() >= bytes) { return; }
  memory = {};  // free first: old and new memory together may exceed the budget
  memory = gpu::DeviceBuffer(allocator, bytes, stream.get(), "scratch of a read");
}

void DeviceSlot::reserve_constants(std::shared_ptr<DeviceAllocator> const& allocator, std::size_t bytes) {
  if (constants.allocator() == allocator.get() && constants.size_bytes() >= bytes) { return; }
  constants = {};
  constants = gpu::DeviceBuffer(allocator, bytes, stream.get(), "the plan of a read");
}

void DeviceSlot::reserve_control(std::size_t bytes) {
  if (control_bytes >= bytes) { return; }
  control.reset();
  control_bytes = 0;
  control = gpu::make_pinned(bytes);
  control_bytes = bytes;
}

void DeviceSlot::reserve_input(std::size_t bytes) {
  if (input_bytes >= bytes) { return; }
  input.reset();
  input_bytes = 0;
  input = gpu::make_pinned(bytes);
  input_bytes = bytes;
}

void DeviceSlot::reserve_decoders(std::shared_ptr<DeviceAllocator> const& allocator) {
  if (decoders && decoders_allocator == allocator.get()) { return; }
  decoders = std::make_unique<HostInputDecoders>(allocator);
  decoders_allocator = allocator.get();
}

SlotLease::SlotLease(gpu::DeviceContext& context, std::size_t count, std::shared_ptr<DeviceAllocator> allocator)
    : context_(context), allocator_(std::move(allocator)) {
  {
    IdleSlots& kept = context_.part<IdleSlots>();
    std::lock_guard const lock(kept.mutex);
    auto& idle = kept.slots;
    // Prefer slots with memory of the right allocator, the largest first. Slots of other allocators stay in the cache.
    std::ranges::stable_sort(idle, std::greater{}, [&](std::unique_ptr<DeviceSlot> const& slot) {
      return std::pair(slot->memory.allocator() == allocator_.get(), slot->memory.size_bytes());
    });
    for (auto it = idle.begin(); it != idle.end() && slots_.size() < count;) {
      auto const usable = [&](gpu::DeviceBuffer const& buffer) {
        return buffer.allocator() == nullptr || buffer.allocator() == allocator_.get();
      };
      if (usable((*it)->memory) && usable((*it)->constants) &&
          (!(*it)->decoders || (*it)->decoders_allocator == allocator_.get())) {
        slots_.push_back(std::move(*it));
        it = idle.erase(it);
      } else {
        ++it;
      }
    }
  }
  while (slots_.size() < count) { slots_.push_back(std::make_unique<DeviceSlot>()); }
}

SlotLease::~SlotLease() {
  // Work of this read must have completed before the next read takes the slots.
  bool idle = true;
  for (auto const& slot : slots_) { idle = gpu::sync_quietly(slot->stream.get()) && idle; }
  if (!idle) {
    for (auto& slot : slots_) { (void)slot.release(); }  // leak: the GPU may use them until the process ends
    return;
  }
  IdleSlots& kept = context_.part<IdleSlots>();
  std::lock_guard const lock(kept.mutex);
  for (auto& slot : slots_) { kept.slots.push_back(std::move(slot)); }
}

void SlotLease::reserve_memory(std::span<std::size_t const> slot_bytes, std::uint64_t budget_bytes) {
  if (slot_bytes.empty()) { return; }
  std::uint64_t const needed = std::accumulate(slot_bytes.begin(), slot_bytes.end(), std::uint64_t{0});
  std::uint64_t const spare = (budget_bytes - needed) / slot_bytes.size();  // a slot may keep more from an earlier read
  std::uint64_t taken = 0;
  for (std::size_t s = 0; s < slot_bytes.size(); ++s) {
    DeviceSlot& slot = *slots_[s];
    slot.drop_memory_over(static_cast<std::size_t>(slot_bytes[s] + spare));
    taken += std::max(slot_bytes[s], slot.memory.size_bytes());
  }
  if (taken + idle_slot_bytes(context_, *allocator_) > budget_bytes) { release_idle_of(context_, *allocator_); }
  for (std::size_t s = 0; s < slot_bytes.size(); ++s) { slots_[s]->reserve_memory(allocator_, slot_bytes[s]); }
}

std::uint64_t idle_slot_bytes(gpu::DeviceContext& context, DeviceAllocator const& allocator) {
  IdleSlots& kept = context.part<IdleSlots>();
  std::lock_guard const lock(kept.mutex);
  std::uint64_t bytes = 0;
  for (auto const& slot : kept.slots) {
    if (keeps_memory_of(*slot, allocator)) { bytes += kept_bytes(*slot); }
  }
  return bytes;
}

void release_slots(gpu::DeviceContext& context) {
  std::vector<std::unique_ptr<DeviceSlot>> idle;
  {
    IdleSlots& kept = context.part<IdleSlots>();
    std::lock_guard const lock(kept.mutex);
    idle = std::exchange(kept.slots, {});
  }
  release(idle);
}

}  // namespace terrazzo::reading
