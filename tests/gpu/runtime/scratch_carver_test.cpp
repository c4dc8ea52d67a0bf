// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/scratch_carver.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::gpu {
namespace {

constexpr std::size_t kPart = ScratchCarver::kPartAlignment;

TEST(ScratchCarver, CountsWithoutABuffer) {
  ScratchCarver carver(nullptr);
  EXPECT_EQ(carver.take<std::uint64_t>(1), nullptr);
  EXPECT_EQ(carver.used(), kPart);
  EXPECT_EQ(carver.take<std::byte>(kPart + 1), nullptr);
  EXPECT_EQ(carver.used(), 3 * kPart);
  EXPECT_EQ(carver.take<std::byte>(0), nullptr);
  EXPECT_EQ(carver.used(), 3 * kPart);
  EXPECT_EQ(carver.enough(), 4 * kPart);
}

TEST(ScratchCarver, AlignsItsPartsInABufferOfAnyAlignment) {
  ScratchCarver counter(nullptr);
  (void)counter.take<std::byte>(10);
  (void)counter.take<std::byte>(kPart);
  std::vector<std::byte> buffer(4 * kPart);
  for (std::size_t shift = 0; shift < kPart; shift += 17) {
    ScratchCarver carver(buffer.data() + shift);
    auto* const first = carver.take<std::byte>(10);
    auto* const second = carver.take<std::byte>(kPart);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kPart, 0u);
    EXPECT_EQ(second, first + kPart);
    EXPECT_EQ(buffer.data() + shift + carver.used(), second + kPart);
    EXPECT_LE(carver.used(), counter.enough());
  }
}

}  // namespace
}  // namespace terrazzo::gpu
