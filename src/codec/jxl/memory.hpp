// SPDX-License-Identifier: Apache-2.0
//
// The hooks through which libjxl allocates memory: they count it, and refuse more than a block's limit.
// Thread rule: one thread at a time, like the decoder that uses them.
#pragma once

#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_JXL

#include <jxl/memory_manager.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::codec {

class JxlMemory {
 public:
  JxlMemory() = default;
  JxlMemory(JxlMemory const&) = delete;  // the library holds its address
  JxlMemory& operator=(JxlMemory const&) = delete;

  [[nodiscard]] JxlMemoryManager hooks() noexcept;

  // Sets the limit for one block. Memory that is already held counts.
  void limit(std::uint64_t bytes) noexcept;
  // True if an allocation was refused since limit().
  [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_; }

 private:
  static void* allocate(void* self, std::size_t bytes) noexcept;
  static void release(void* self, void* memory) noexcept;

  std::uint64_t held_bytes_ = 0, limit_bytes_ = UINT64_MAX;
  bool has_refused_ = false;
};

}  // namespace terrazzo::codec

#endif
