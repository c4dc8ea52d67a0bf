// SPDX-License-Identifier: Apache-2.0
//
// Parts of one scratch buffer, each aligned as cudaMalloc aligns. The same walk over a null buffer only counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu {

class ScratchCarver {
 public:
  static constexpr std::size_t kPartAlignment = 256;  // what cudaMalloc gives

  // Bytes that a buffer at `base` loses before its first part; below kPartAlignment.
  [[nodiscard]] static std::size_t lead(std::byte const* base) noexcept {
    return (kPartAlignment - reinterpret_cast<std::uintptr_t>(base) % kPartAlignment) % kPartAlignment;
  }

  explicit ScratchCarver(std::byte* base) noexcept : base_(base), used_(base == nullptr ? 0 : lead(base)) {}

  template <class T>
  [[nodiscard]] T* take(std::size_t count) noexcept {
    T* const part = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    return part;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }  // the lead included
  // After a walk over a null buffer: what a buffer of any alignment must have.
  [[nodiscard]] std::size_t enough() const noexcept { return used_ + kPartAlignment; }

 private:
  std::byte* base_;
  std::size_t used_;
};

}  // namespace terrazzo::gpu
