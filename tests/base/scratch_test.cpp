// SPDX-License-Identifier: Apache-2.0
#include "base/scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace terrazzo {
namespace {

TEST(Scratch, GivesAlignedMemoryOfTheSizeAskedFor) {
  Scratch scratch;
  for (std::size_t const bytes :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{100'000}}) {
    auto const memory = scratch.get(bytes);
    EXPECT_EQ(memory.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
    std::ranges::fill(memory, std::byte{7});  // the sanitizers see a byte too few
  }
}

TEST(Scratch, KeepsItsMemoryWhenLessIsWanted) {
  Scratch scratch;
  std::byte* const large = scratch.get(10'000).data();
  large[5] = std::byte{9};
  auto const small = scratch.get(10);
  EXPECT_EQ(small.data(), large);
  EXPECT_EQ(small[5], std::byte{9});
}

TEST(Scratch, GivesAnEmptySpanForNothing) {
  Scratch scratch;
  EXPECT_TRUE(scratch.get(0).empty());
}

TEST(Scratch, TrimLetsGoOfWhatIsTooLargeOnly) {
  Scratch scratch;
  std::byte* const first = scratch.get(4096).data();
  scratch.trim(4096);
  EXPECT_EQ(scratch.get(4096).data(), first);
  scratch.trim(4095);
  std::ranges::fill(scratch.get(64), std::byte{1});
}

TEST(Scratch, ThrowsForWhatNoMachineHasAndCanBeUsedAfterwards) {
  Scratch scratch;
  static_cast<void>(scratch.get(100));
  EXPECT_THROW(static_cast<void>(scratch.get(std::numeric_limits<std::size_t>::max())), std::bad_alloc)
      << "rounding up must not wrap to nothing";
  std::ranges::fill(scratch.get(100), std::byte{1});
}

}  // namespace
}  // namespace terrazzo
