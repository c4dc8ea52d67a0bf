// SPDX-License-Identifier: Apache-2.0
#include "base/carver.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo {
namespace {

constexpr std::size_t kPart = Carver::kAlignmentBytes;

TEST(Carver, CountsWithoutABuffer) {
  Carver carver;
  EXPECT_EQ(carver.take<std::uint64_t>(1), nullptr);
  EXPECT_EQ(carver.used(), kPart);
  EXPECT_EQ(carver.take<std::byte>(kPart + 1), nullptr);
  EXPECT_EQ(carver.used(), 3 * kPart);
  EXPECT_EQ(carver.take<std::byte>(0), nullptr);
  EXPECT_EQ(carver.used(), 3 * kPart);
  EXPECT_EQ(carver.enough(), 4 * kPart);
}

TEST(Carver, AlignsItsPartsInABufferOfAnyAlignment) {
  Carver counter;
  (void)counter.take<std::byte>(10);
  (void)counter.take<std::byte>(kPart);
  std::vector<std::byte> buffer(4 * kPart);
  for (std::size_t shift = 0; shift < kPart; shift += 17) {
    Carver carver(buffer.data() + shift);
    auto* const first = carver.take<std::byte>(10);
    auto* const second = carver.take<std::byte>(kPart);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kPart, 0u);
    EXPECT_EQ(second, first + kPart);
    EXPECT_EQ(buffer.data() + shift + carver.used(), second + kPart);
    EXPECT_LE(carver.used(), counter.enough());
  }
}

TEST(Carver, GivesOffsetsOfTheSameParts) {
  Carver carver;
  EXPECT_EQ(carver.place(1), 0u);
  EXPECT_EQ(carver.place(kPart), kPart);
  EXPECT_EQ(carver.place(0), 2 * kPart);
  EXPECT_EQ(carver.used(), 2 * kPart);
}

}  // namespace
}  // namespace terrazzo
