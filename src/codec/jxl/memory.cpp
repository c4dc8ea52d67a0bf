// SPDX-License-Identifier: Apache-2.0
#include "codec/jxl/memory.hpp"

#include "codec/registry/memory_charge.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace terrazzo::codec {

std::uint64_t jxl_working_bytes(BlockShape shape, std::uint32_t samples_per_pixel) noexcept {
  constexpr std::uint64_t kOfGroups = 4u << 20, kSampleBytes = 4;
  std::uint64_t const channels = std::max<std::uint64_t>(3, samples_per_pixel);
  return std::uint64_t{shape.width_px} * shape.height_px * channels * 2 * kSampleBytes + kOfGroups;
}

#if TERRAZZO_HAVE_JXL

namespace {

// The size is stored before the memory, which keeps malloc's alignment.
constexpr std::size_t kFrontBytes = alignof(std::max_align_t);
static_assert(kFrontBytes >= sizeof(std::size_t));

}  // namespace

JxlMemoryManager JxlMemory::hooks() noexcept { return {this, &JxlMemory::allocate, &JxlMemory::release}; }

void JxlMemory::limit(std::uint64_t bytes) noexcept {
  limit_bytes_ = bytes;
  has_refused_ = false;
}

void* JxlMemory::allocate(void* self, std::size_t bytes) noexcept {
  auto& memory = *static_cast<JxlMemory*>(self);
  if (memory.held_bytes_ > memory.limit_bytes_ || bytes > memory.limit_bytes_ - memory.held_bytes_ ||
      bytes > std::numeric_limits<std::size_t>::max() - kFrontBytes) {
    memory.has_refused_ = true;
    return nullptr;
  }
  auto* const front = static_cast<std::byte*>(std::malloc(bytes + kFrontBytes));
  if (front == nullptr) {
    memory.has_refused_ = true;
    return nullptr;
  }
  std::memcpy(front, &bytes, sizeof bytes);
  memory.held_bytes_ += bytes;
  return front + kFrontBytes;
}

void JxlMemory::release(void* self, void* memory) noexcept {
  if (memory == nullptr) { return; }
  std::byte* const front = static_cast<std::byte*>(memory) - kFrontBytes;
  std::size_t bytes = 0;
  std::memcpy(&bytes, front, sizeof bytes);
  static_cast<JxlMemory*>(self)->held_bytes_ -= bytes;
  std::free(front);
}

#endif

}  // namespace terrazzo::codec
