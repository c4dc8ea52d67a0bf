// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/pinned_buffer.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace terrazzo::gpu {

namespace {

struct Kept {
  PinnedMemory memory;
  std::size_t bytes;
};

struct Cache {
  std::mutex mutex;
  std::vector<Kept> kept;
};

Cache& cache() {
  static auto* const instance = new Cache;  // never destroyed: at exit the driver may unload first
  return *instance;
}

// Two writers at once use sixteen buffers, most of them small; keeping more or larger ones gains nothing.
constexpr std::size_t kMostKept = 16;
constexpr std::size_t kLargestKept = std::size_t{64} << 20;
// A request gets a buffer only if it uses a large enough part of it: otherwise large buffers would be missing later.
constexpr std::size_t kMostWaste = 4, kSmallBytes = std::size_t{64} << 10;

void give_back(PinnedMemory memory, std::size_t bytes) {
  if (memory == nullptr || bytes > kLargestKept) { return; }
  PinnedMemory freed;  // freed outside the lock: freeing is slow
  std::lock_guard const lock(cache().mutex);
  auto& kept = cache().kept;
  kept.push_back({std::move(memory), bytes});
  if (kept.size() > kMostKept) {
    auto const smallest = std::ranges::min_element(kept, {}, &Kept::bytes);
    freed = std::move(smallest->memory);
    kept.erase(smallest);
  }
}

}  // namespace

PinnedBuffer::~PinnedBuffer() { give_back(std::move(memory_), bytes_); }

void PinnedBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) { return; }
  give_back(std::exchange(memory_, {}), std::exchange(bytes_, 0));
  {
    std::lock_guard const lock(cache().mutex);
    auto& kept = cache().kept;
    // Take the smallest sufficient buffer.
    auto best = kept.end();
    for (auto it = kept.begin(); it != kept.end(); ++it) {
      if (it->bytes >= bytes && it->bytes <= kMostWaste * bytes + kSmallBytes &&
          (best == kept.end() || it->bytes < best->bytes)) {
        best = it;
      }
    }
    if (best != kept.end()) {
      memory_ = std::move(best->memory);
      bytes_ = best->bytes;
      kept.erase(best);
      return;
    }
  }
  memory_ = make_pinned(bytes);
  bytes_ = bytes;
}

void trim_pinned_buffers() {
  std::vector<Kept> freed;
  std::lock_guard const lock(cache().mutex);
  freed.swap(cache().kept);
}

}  // namespace terrazzo::gpu
