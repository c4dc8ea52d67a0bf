// SPDX-License-Identifier: Apache-2.0
#include "read/device_slots.hpp"

#include "gpu/runtime/check.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace terrazzo::reading {

namespace {

struct Cache {
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceSlot>> idle;
};

Cache& cache() {
  static auto* const instance = new Cache;  // never destroyed: at exit the driver may be gone before us
  return *instance;
}

}  // namespace

void DeviceSlot::reserve_memory(DeviceAllocator& allocator, std::size_t bytes, std::size_t max_bytes) {
  std::size_t const kept = memory.size_bytes();
  if (memory.allocator() == &allocator && kept >= bytes && kept <= max_bytes) { return; }
  memory = {};  // first: both would not fit the budget
  memory = gpu::DeviceBuffer(allocator, bytes, stream.get());
}

void DeviceSlot::reserve_constants(DeviceAllocator& allocator, std::size_t bytes) {
  if (constants.allocator() == &allocator && constants.size_bytes() >= bytes) { return; }
  constants = {};
  constants = gpu::DeviceBuffer(allocator, bytes, stream.get());
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

void DeviceSlot::reserve_decoders(DeviceAllocator& allocator) {
  if (decoders && decoders_allocator == &allocator) { return; }
  decoders = std::make_unique<HostInputDecoders>(allocator);
  decoders_allocator = &allocator;
}

SlotLease::SlotLease(std::size_t count, DeviceAllocator& allocator) {
  int device = 0;
  gpu::check_cuda(cudaGetDevice(&device), "asking for the current device");
  {
    std::lock_guard const lock(cache().mutex);
    auto& idle = cache().idle;
    // Those with memory of the right allocator, the largest first. Those of another stay: it may not outlive us.
    std::ranges::stable_sort(idle, std::greater{}, [&](std::unique_ptr<DeviceSlot> const& slot) {
      return std::pair(slot->memory.allocator() == &allocator, slot->memory.size_bytes());
    });
    for (auto it = idle.begin(); it != idle.end() && slots_.size() < count;) {
      auto const usable = [&](gpu::DeviceBuffer const& buffer) {
        return buffer.allocator() == nullptr || buffer.allocator() == &allocator;
      };
      if ((*it)->device == device && usable((*it)->memory) && usable((*it)->constants) &&
          (!(*it)->decoders || (*it)->decoders_allocator == &allocator)) {
        slots_.push_back(std::move(*it));
        it = idle.erase(it);
      } else {
        ++it;
      }
    }
  }
  while (slots_.size() < count) {
    slots_.push_back(std::make_unique<DeviceSlot>());
    slots_.back()->device = device;
  }
}

SlotLease::~SlotLease() {
  // Nothing of this read may still run when the next one takes the slots.
  for (auto const& slot : slots_) { (void)cudaStreamSynchronize(slot->stream.get()); }
  std::lock_guard const lock(cache().mutex);
  for (auto& slot : slots_) { cache().idle.push_back(std::move(slot)); }
}

void release_slots() {
  std::vector<std::unique_ptr<DeviceSlot>> idle;
  {
    std::lock_guard const lock(cache().mutex);
    idle = std::exchange(cache().idle, {});
  }
  // A free that the host has not seen complete cannot be trimmed.
  for (auto const& slot : idle) {
    slot->decoders.reset();
    slot->memory = {};
    slot->constants = {};
    (void)cudaStreamSynchronize(slot->stream.get());
  }
}

}  // namespace terrazzo::reading
