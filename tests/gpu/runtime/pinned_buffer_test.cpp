// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/pinned_buffer.hpp"

#include "device_fixture.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace terrazzo::gpu {
namespace {

class PinnedBuffers : public test::OnDevice {
 protected:
  void TearDown() override { trim_pinned_buffers(); }
};

TEST_F(PinnedBuffers, GiveTheirMemoryToTheNextWhoAsksForNoMore) {
  trim_pinned_buffers();
  std::byte* first = nullptr;
  {
    PinnedBuffer buffer;
    EXPECT_EQ(buffer.data(), nullptr);
    buffer.reserve(1 << 20);
    first = buffer.data();
    std::memset(first, 7, 1 << 20);
  }
  PinnedBuffer again;
  again.reserve(500'000);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(again.size_bytes(), std::size_t{1} << 20);
  PinnedBuffer other;
  other.reserve(1000);
  EXPECT_NE(other.data(), first) << "one owner at a time";
}

TEST_F(PinnedBuffers, GrowAndStayWhenTheyAreLargeEnough) {
  PinnedBuffer buffer;
  buffer.reserve(4096);
  std::byte* const small = buffer.data();
  buffer.reserve(100);
  EXPECT_EQ(buffer.data(), small);
  buffer.reserve(1 << 20);
  EXPECT_GE(buffer.size_bytes(), std::size_t{1} << 20);
  std::memset(buffer.data(), 1, 1 << 20);
}

}  // namespace
}  // namespace terrazzo::gpu
