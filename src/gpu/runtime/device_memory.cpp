// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/device_memory.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_pool.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/result_memory.hpp"
#include "terrazzo/error.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace terrazzo::gpu {

namespace {

std::atomic<GiveBackKept> keeper{nullptr};

void give_back_kept(DeviceAllocator& allocator) {
  free_finished_results();
  if (GiveBackKept const give_back = keeper.load()) { give_back(allocator); }
  if (auto* const pool = dynamic_cast<DevicePool*>(&allocator)) { pool->trim(); }
}

std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return free_bytes;
}

// Returns false if there is too little memory; passes on other failures.
bool allocated(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream, void*& memory) {
  try {
    memory = allocator.allocate(bytes, stream);
    return true;
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::limit) { throw; }
  } catch (std::bad_alloc const&) {  // thrown by callers' allocators
  }
  return false;
}

void* allocate_or_make_room(DeviceAllocator& allocator, std::size_t bytes, cudaStream_t stream, char const* what) {
  void* memory = nullptr;
  if (allocated(allocator, bytes, stream, memory)) { return memory; }
  give_back_kept(allocator);
  if (allocated(allocator, bytes, stream, memory)) { return memory; }
  if (wait_for_pending_results() && allocated(allocator, bytes, stream, memory)) { return memory; }
  throw Error(ErrorKind::limit, text(what, ": ", bytes, " bytes of device memory are more than the GPU has left"));
}

}  // namespace

void on_shortage(GiveBackKept give_back) noexcept { keeper = give_back; }

std::uint64_t scratch_room(std::uint64_t wanted, DeviceAllocator& allocator) {
  auto const* const pool = dynamic_cast<DevicePool const*>(&allocator);
  if (pool == nullptr) { return wanted; }
  if (scratch_room(wanted, free_device_bytes(), pool->unused_bytes()) == wanted) { return wanted; }
  give_back_kept(allocator);
  return scratch_room(wanted, free_device_bytes(), pool->unused_bytes());
}

DeviceBuffer::DeviceBuffer(std::shared_ptr<DeviceAllocator> allocator, std::size_t bytes, cudaStream_t stream,
                           char const* what)
    : allocator_(std::move(allocator)),
      data_(allocate_or_make_room(*allocator_, bytes, stream, what)),
      bytes_(bytes),
      stream_(stream) {}

DeviceBuffer::~DeviceBuffer() {
  // A caller's allocator may wait for the GPU.
  if (data_ != nullptr && !device_is_lost()) { allocator_->deallocate(data_, bytes_, stream_); }
}

}  // namespace terrazzo::gpu
