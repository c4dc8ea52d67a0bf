// SPDX-License-Identifier: Apache-2.0
//
// Memory that grows and is reused but never zeroed: the owner writes before it reads.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>

namespace terrazzo {

class Scratch {
 public:
  // At least `bytes` of memory, aligned for vectors; growing discards the contents. Throws bad_alloc.
  [[nodiscard]] std::span<std::byte> get(std::size_t bytes) {
    if (bytes > capacity_) {
      memory_.reset();
      capacity_ = 0;
      if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) { throw std::bad_alloc(); }
      std::size_t const rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
      if (memory_ == nullptr) { throw std::bad_alloc(); }
      capacity_ = rounded;
    }
    return {memory_.get(), bytes};
  }

  // Frees memory that is larger than a thread should keep between calls.
  void trim(std::size_t keep_bytes) noexcept {
    if (capacity_ > keep_bytes) {
      memory_.reset();
      capacity_ = 0;
    }
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace terrazzo
