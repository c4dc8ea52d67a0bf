// SPDX-License-Identifier: Apache-2.0
//
// One piece of pinned host memory of any size, for data that must be contiguous: a whole batch downloaded from the
// device. Pinning is slow, so released memory is kept for later requests.
//
// Thread rule: a buffer belongs to one thread at a time; any thread may take or return one.
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

  // At least `bytes`; growing discards the contents. No copy to or from the old memory may be in progress.
  void reserve(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  PinnedMemory memory_{};
  std::size_t bytes_ = 0;
};

// Frees memory kept for later requests.
void trim_pinned_buffers();

}  // namespace terrazzo::gpu
