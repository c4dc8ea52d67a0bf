// SPDX-License-Identifier: Apache-2.0
//
// Asking for memory must neither change it nor end the process, wherever it lies.
#include "tile/prefetch.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace terrazzo::tile {
namespace {

TEST(Prefetch, ChangesNothing) {
  std::vector<std::byte> memory(3 * kLineBytes + 5, std::byte{0x5A});
  auto const before = memory;
  prefetch_to_read(memory.data() + 1, memory.size() - 1);
  prefetch_to_write(memory.data() + 1, memory.size() - 1);
  prefetch_start_to_read(memory.data(), memory.size());
  prefetch_start_to_write(memory.data(), memory.size());
  EXPECT_EQ(memory, before);
}

TEST(Prefetch, AsksForPagesThatNobodyMayTouch) {
  constexpr std::size_t kBytes = 3 * 4096;
  void* const pages = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  prefetch_to_read(static_cast<std::byte*>(pages), kBytes);
  prefetch_to_write(static_cast<std::byte*>(pages), kBytes);
  EXPECT_EQ(munmap(pages, kBytes), 0);
  prefetch_to_read(static_cast<std::byte*>(pages), kBytes);  // nobody's by now
  prefetch_to_write(static_cast<std::byte*>(pages), kBytes);
}

TEST(Prefetch, DoesNotReadOnlyMemoryAnyHarm) {
  constexpr std::size_t kBytes = 4096;
  void* const page = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  prefetch_to_write(static_cast<std::byte*>(page), kBytes);
  EXPECT_EQ(*static_cast<std::uint8_t*>(page), 0);
  EXPECT_EQ(munmap(page, kBytes), 0);
}

}  // namespace
}  // namespace terrazzo::tile
