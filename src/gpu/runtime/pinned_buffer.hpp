// SPDX-License-Identifier: Apache-2.0
//
// One piece of pinned host memory of any size, for what must lie together: a whole batch that comes back from the
// device. Pinned memory is slow to make, so what is given back is kept for the next who asks.
//
// Thread rule: a buffer belongs to one thread at a time; giving back and taking are safe from any.
#pragma once

#include "gpu/runtime/pinned_pool.hpp"

#include <cstddef>
#include <utility>

namespace terrazzo::gpu {

class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedBuffer();

  // At least `bytes`; what it held is lost when it grows. Nothing may be on its way to or from the old memory.
  void reserve(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  PinnedMemory memory_{};
  std::size_t bytes_ = 0;
};

// Frees what is kept for the next.
void trim_pinned_buffers();

}  // namespace terrazzo::gpu
