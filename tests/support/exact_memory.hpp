// SPDX-License-Identifier: Apache-2.0
//
// Memory of exactly its size at a chosen address, so that AddressSanitizer sees an access outside.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

namespace terrazzo::test {

class ExactMemory {
 public:
  // `skew`: the address after a multiple of 16.
  ExactMemory(std::size_t size, std::size_t skew)
      : memory_(static_cast<std::byte*>(::operator new(size + skew, std::align_val_t{16}))), skew_(skew) {
    if (size + skew != 0) { std::memset(memory_, 0xEE, size + skew); }
  }
  ExactMemory(ExactMemory const&) = delete;
  ExactMemory& operator=(ExactMemory const&) = delete;
  ~ExactMemory() { ::operator delete(memory_, std::align_val_t{16}); }
  [[nodiscard]] std::byte* data() const noexcept { return memory_ + skew_; }

 private:
  std::byte* memory_;
  std::size_t skew_;
};

}  // namespace terrazzo::test
