// SPDX-License-Identifier: Apache-2.0
//
// Which lines are asked for; and that asking neither changes memory nor ends the process, whosever it is.
#include "tile/host/prefetch.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace terrazzo::tile {
namespace {

std::vector<std::uintptr_t> lines_of(std::byte const* from, std::size_t bytes) {
  std::vector<std::uintptr_t> lines;
  for_each_line(from, bytes, [&](std::uintptr_t line) { lines.push_back(line); });
  return lines;
}

TEST(Prefetch, AsksForEveryLineThatHasSomeOfTheBytes) {
  alignas(kLineBytes) std::byte const memory[5 * kLineBytes]{};
  auto const at = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_TRUE(lines_of(memory, 0).empty());
  EXPECT_EQ(lines_of(memory, 1), (std::vector{at}));
  EXPECT_EQ(lines_of(memory, 64), (std::vector{at}));
  EXPECT_EQ(lines_of(memory, 65), (std::vector{at, at + 64}));
  EXPECT_EQ(lines_of(memory + 60, 64), (std::vector{at, at + 64})) << "of 4 and 60 bytes";
  EXPECT_EQ(lines_of(memory + 63, 1), (std::vector{at}));
  EXPECT_EQ(lines_of(memory + 16, 256), (std::vector{at, at + 64, at + 128, at + 192, at + 256}));
}

TEST(Prefetch, ChangesNothing) {
  std::vector<std::byte> memory(3 * kLineBytes + 5, std::byte{0x5A});
  auto const before = memory;
  prefetch(memory.data() + 1, memory.size() - 1);
  prefetch_start(memory.data(), memory.size());
  EXPECT_EQ(memory, before);
}

TEST(Prefetch, LeavesPagesAloneThatNobodyMayTouch) {
  constexpr std::size_t kBytes = 3 * 4096;
  void* const pages = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  prefetch(static_cast<std::byte*>(pages), kBytes);
  EXPECT_EQ(munmap(pages, kBytes), 0);
}

}  // namespace
}  // namespace terrazzo::tile
