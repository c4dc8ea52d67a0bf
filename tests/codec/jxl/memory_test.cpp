// SPDX-License-Identifier: Apache-2.0
#include "codec/jxl/memory.hpp"

#include "codec/registry/memory_charge.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace terrazzo::codec {
namespace {

TEST(JxlWorkingBytes, AreTwoPlanesOfFloatsAChannelThreeChannelsAtLeast) {
  constexpr std::uint64_t kOfGroups = 4u << 20;
  EXPECT_EQ(jxl_working_bytes({100, 10}, 1), kOfGroups + std::uint64_t{1000} * 24);
  EXPECT_EQ(jxl_working_bytes({100, 10}, 3), kOfGroups + std::uint64_t{1000} * 24);
  EXPECT_EQ(jxl_working_bytes({100, 10}, 5), kOfGroups + std::uint64_t{1000} * 40);
}

#if TERRAZZO_HAVE_JXL

TEST(JxlMemory, CountsWhatIsHeldAndRefusesMoreThanTheLimit) {
  JxlMemory memory;
  JxlMemoryManager const hooks = memory.hooks();
  memory.limit(1000);
  void* const first = hooks.alloc(hooks.opaque, 600);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % alignof(std::max_align_t), 0u);
  std::memset(first, 1, 600);
  EXPECT_EQ(memory.held_bytes(), 600u);
  EXPECT_EQ(hooks.alloc(hooks.opaque, 401), nullptr);
  EXPECT_TRUE(memory.has_refused());
  EXPECT_EQ(hooks.alloc(hooks.opaque, SIZE_MAX), nullptr);
  memory.limit(1000);
  EXPECT_FALSE(memory.has_refused());
  void* const second = hooks.alloc(hooks.opaque, 400);
  ASSERT_NE(second, nullptr);
  hooks.free(hooks.opaque, first);
  EXPECT_EQ(memory.held_bytes(), 400u);
  memory.limit(100);  // what is held already counts
  EXPECT_EQ(hooks.alloc(hooks.opaque, 1), nullptr);
  hooks.free(hooks.opaque, nullptr);
  hooks.free(hooks.opaque, second);
  EXPECT_EQ(memory.held_bytes(), 0u);
}

#endif

}  // namespace
}  // namespace terrazzo::codec
