// SPDX-License-Identifier: Apache-2.0
//
// Divides one buffer into parts, each aligned as cudaMalloc aligns, so that every type and vector load fits. The same
// walk without a buffer computes its size.
#pragma once

#include "base/checked.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo {

class Carver {
 public:
  static constexpr std::size_t kAlignmentBytes = 256;

  // Bytes before the first part of a buffer at `base`; below kAlignmentBytes.
  [[nodiscard]] static std::size_t lead(std::byte const* base) noexcept {
    return (kAlignmentBytes - reinterpret_cast<std::uintptr_t>(base) % kAlignmentBytes) % kAlignmentBytes;
  }

  explicit Carver(std::byte* base = nullptr) noexcept : base_(base), used_(base == nullptr ? 0 : lead(base)) {}

  // Offset of the next part, from the buffer's start.
  std::size_t place(std::size_t bytes) noexcept {
    std::size_t const at = used_;
    used_ += round_up(bytes, kAlignmentBytes);
    return at;
  }
  // The next part; null without a buffer.
  template <class T>
  [[nodiscard]] T* take(std::size_t count) noexcept {
    std::size_t const at = place(count * sizeof(T));
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }  // includes the lead
  // After a walk without a buffer: the size of a buffer of any alignment.
  [[nodiscard]] std::size_t enough() const noexcept { return used_ + kAlignmentBytes; }

 private:
  std::byte* base_;
  std::size_t used_;
};

}  // namespace terrazzo
