// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/thread_scratch.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace terrazzo::reading {
namespace {

TEST(ThreadScratchMemory, LetsGoOfWhatIsLarge) {
  ThreadScratch scratch;
  std::byte* const small = scratch.row.get(1000).data();
  static_cast<void>(scratch.decoded.get(64u << 20));
  scratch.trim();
  EXPECT_EQ(scratch.row.get(1000).data(), small);
}

TEST(ThreadScratchMemory, KeepsTheBuffersOfFetchersUnlessTheyAreLarge) {
  ThreadScratch scratch;
  FetchBuffers buffers = scratch.take_buffers(), others = scratch.take_buffers();
  std::byte* const small = buffers.compressed.get(1000).data();
  static_cast<void>(others.compressed.get(64u << 20));
  scratch.give_back(std::move(others));
  scratch.give_back(std::move(buffers));
  EXPECT_EQ(scratch.take_buffers().compressed.get(1000).data(), small);
}

TEST(ThreadScratchMemory, KeepsAFewBuffersOfManyFetchers) {
  ThreadScratch scratch;
  for (int i = 0; i < 64; ++i) { scratch.give_back({}); }
  EXPECT_LE(scratch.spare_buffers.size(), 4u);
}

}  // namespace
}  // namespace terrazzo::reading
