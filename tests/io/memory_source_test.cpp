// SPDX-License-Identifier: Apache-2.0
#include "io/memory_source.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <type_traits>
#include <vector>

namespace terrazzo::io {
namespace {

std::vector<std::byte> numbers(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) { bytes[i] = static_cast<std::byte>(i); }
  return bytes;
}

TEST(MemorySource, OwnsBytesThatAreGivenAway) {
  std::unique_ptr<MemorySource const> source;
  {
    std::vector<std::byte> bytes = numbers(100);
    source = std::make_unique<MemorySource const>(std::move(bytes), "owned");
  }
  std::array<std::byte, 3> into{};
  source->read(97, into);
  EXPECT_EQ(into[2], std::byte{99});
  EXPECT_EQ(source->name(), "owned");
}

TEST(MemorySource, BorrowsASpanWithoutACopy) {
  std::vector<std::byte> const bytes = numbers(100);
  MemorySource const source(std::span<std::byte const>(bytes), "borrowed");
  EXPECT_EQ(source.in_memory().data(), bytes.data());
  EXPECT_EQ(source.size_bytes(), 100u);
}

TEST(MemorySource, IsNotTrustedAsAFileIs) { EXPECT_FALSE(MemorySource(numbers(1), "m").hints().trusted); }

TEST(MemorySource, CannotBeCopied) { static_assert(!std::is_copy_constructible_v<MemorySource>); }

TEST(MemorySource, ReadsManyRangesInOneCall) {
  MemorySource const source(numbers(256), "m");
  std::vector<std::byte> buffer(30);
  std::vector<RangeRead> const ranges = {{200, std::span(buffer).subspan(0, 10)},
                                         {0, std::span(buffer).subspan(10, 10)},
                                         {256, {}},
                                         {246, std::span(buffer).subspan(20, 10)}};
  source.submit(ranges).wait();
  EXPECT_EQ(buffer[0], std::byte{200});
  EXPECT_EQ(buffer[19], std::byte{9});
  EXPECT_EQ(buffer[29], std::byte{255});
}

TEST(MemorySource, RefusesARangePastTheEndWhenWaitedFor) {
  MemorySource const source(numbers(256), "m");
  std::array<std::byte, 16> into{};
  for (std::uint64_t const offset :
       {std::uint64_t{241}, std::uint64_t{256}, std::numeric_limits<std::uint64_t>::max()}) {
    RangeRead const range{offset, into};
    ReadTicket ticket = source.submit({&range, 1});
    try {
      ticket.wait();
      ADD_FAILURE() << offset;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.where().offset, offset);
      EXPECT_EQ(error.where().source, "m");
    }
  }
}

TEST(MemorySource, OfNothingHasNoBytes) {
  MemorySource const source(std::vector<std::byte>{}, "m");
  EXPECT_EQ(source.size_bytes(), 0u);
  EXPECT_NO_THROW(source.read(0, {}));
  std::array<std::byte, 1> into{};
  EXPECT_THROW(source.read(0, into), Error);
}

}  // namespace
}  // namespace terrazzo::io
