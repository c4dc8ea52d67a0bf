// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/pinned_pool.hpp"

#include "base/condition.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace terrazzo::gpu {

void FreePinned::operator()(std::byte* memory) const noexcept {
  if (!device_is_lost()) { (void)cudaFreeHost(memory); }
}

PinnedMemory make_pinned(std::size_t bytes) {
  void* memory = nullptr;
  // Portable: every device of the process may copy from it.
  check_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating pinned memory");
  return PinnedMemory(static_cast<std::byte*>(memory));
}

struct PinnedPool::Impl {
  struct Slot {
    PinnedMemory memory;
    EventHandle copied;      // belongs to the device that copied from it last
    int device = -1;
    bool has_copies = false;
  };
  std::mutex mutex;
  std::condition_variable freed;
  std::array<Slot, kMaxChunks> slots;
  // Chunks without and with memory. Oldest first, so that copies from the chunk that is taken are most likely done.
  std::deque<std::size_t> unmade, ready;

  void give_back(std::size_t index) {
    {
      std::lock_guard const lock(mutex);
      (slots[index].memory ? ready : unmade).push_back(index);
    }
    freed.notify_one();
  }
};

PinnedPool::PinnedPool() : impl_(std::make_unique<Impl>()) {
  for (std::size_t i = 0; i < kMaxChunks; ++i) { impl_->unmade.push_back(i); }
}

PinnedPool& PinnedPool::instance() {
  static auto* const pool = new PinnedPool;  // never destroyed: at exit the driver may unload first
  return *pool;
}

PinnedPool::Chunk PinnedPool::acquire() {
  std::unique_lock lock(impl_->mutex);
  wait_until(impl_->freed, lock, [&] { return !impl_->ready.empty() || !impl_->unmade.empty(); });
  // Prefer an idle existing chunk, then a new one, then one that is still being copied from.
  bool idle = false;
  if (!impl_->ready.empty()) {
    Impl::Slot const& oldest = impl_->slots[impl_->ready.front()];
    idle = !oldest.has_copies || cudaEventQuery(oldest.copied.get()) == cudaSuccess;
  }
  auto& list = idle || impl_->unmade.empty() ? impl_->ready : impl_->unmade;
  std::size_t const index = list.front();
  list.pop_front();
  lock.unlock();
  Chunk chunk(this, index);  // returns the chunk if the next lines throw
  Impl::Slot& slot = impl_->slots[index];
  if (!slot.memory) { slot.memory = make_pinned(kChunkBytes); }
  if (slot.has_copies) {
    sync_event(slot.copied.get(), "waiting for an upload");
    slot.has_copies = false;
  }
  return chunk;
}

void PinnedPool::trim() {
  std::lock_guard const lock(impl_->mutex);
  for (std::size_t const index : std::exchange(impl_->ready, {})) {
    Impl::Slot& slot = impl_->slots[index];
    if (slot.has_copies) { (void)sync_quietly(slot.copied.get()); }
    slot = {};
    impl_->unmade.push_back(index);
  }
}

std::byte* PinnedPool::Chunk::data() const noexcept { return pool_->impl_->slots[index_].memory.get(); }

void PinnedPool::Chunk::release_after(cudaStream_t stream) {
  Impl::Slot& slot = pool_->impl_->slots[index_];
  int const device = current_device();
  if (!slot.copied || slot.device != device) {
    slot.copied = make_event();
    slot.device = device;
  }
  check_cuda(cudaEventRecord(slot.copied.get(), stream), "recording an upload");
  slot.has_copies = true;
  std::exchange(pool_, nullptr)->impl_->give_back(index_);
}

PinnedPool::Chunk::~Chunk() {
  if (pool_ != nullptr) { pool_->impl_->give_back(index_); }
}

}  // namespace terrazzo::gpu
