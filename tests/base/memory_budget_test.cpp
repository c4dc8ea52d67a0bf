// SPDX-License-Identifier: Apache-2.0
#include "base/memory_budget.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo {
namespace {

TEST(MemoryBudget, CountsWhatIsReservedAndGivesItBack) {
  MemoryBudget budget(100);
  {
    auto const a = budget.reserve(60, "a");
    EXPECT_EQ(budget.used_bytes(), 60u);
    auto const b = budget.reserve(40, "b");
    EXPECT_EQ(budget.used_bytes(), 100u) << "to the last byte";
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_EQ(budget.limit_bytes(), 100u);
}

TEST(MemoryBudget, RefusesOneByteTooMuchAndKeepsItsCount) {
  MemoryBudget budget(100);
  auto const a = budget.reserve(60, "a");
  try {
    static_cast<void>(budget.reserve(41, "the directories"));
    ADD_FAILURE() << "not refused";
  } catch (Error const& error) {
    EXPECT_EQ(error.message(),
              "41 bytes of memory for the directories are above the memory limit: 40 of its 100 bytes are free "
              "(memory_limit_bytes, TERRAZZO_MEMORY_LIMIT)");
  }
  EXPECT_EQ(budget.used_bytes(), 60u) << "a refusal takes nothing";
  EXPECT_NO_THROW(static_cast<void>(budget.reserve(40, "b")));
}

TEST(MemoryBudget, CanBeAskedWithoutAFailure) {
  MemoryBudget budget(100);
  auto const a = budget.try_reserve(60);
  ASSERT_TRUE(a.has_value());
  EXPECT_FALSE(budget.try_reserve(41).has_value());
  EXPECT_FALSE(budget.try_reserve(std::numeric_limits<std::uint64_t>::max()).has_value());
  EXPECT_EQ(budget.used_bytes(), 60u);
  EXPECT_TRUE(budget.try_reserve(40).has_value());
  EXPECT_EQ(budget.used_bytes(), 60u);
}

TEST(MemoryBudget, RefusalSaysWhatWasWantedHowMuchAndHowMuchIsFree) {
  MemoryBudget budget(1000);
  auto const a = budget.reserve(250, "a");
  try {
    static_cast<void>(budget.reserve(5000, "the result"));
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    std::string const& message = error.message();
    for (char const* const part : {"the result", "5000", "750", "1000", "TERRAZZO_MEMORY_LIMIT"}) {
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    }
  }
}

TEST(MemoryBudget, IsNotFooledByASumThatWraps) {
  MemoryBudget budget(100);
  auto const a = budget.reserve(60, "a");
  EXPECT_THROW(static_cast<void>(budget.reserve(std::numeric_limits<std::uint64_t>::max(), "b")), Error);
  EXPECT_THROW(static_cast<void>(budget.reserve(std::numeric_limits<std::uint64_t>::max() - 59, "c")), Error);
}

TEST(MemoryBudget, OfNothingGivesNothingButNothing) {
  MemoryBudget budget(0);
  EXPECT_NO_THROW(static_cast<void>(budget.reserve(0, "nothing")));
  EXPECT_THROW(static_cast<void>(budget.reserve(1, "something")), Error);
}

TEST(MemoryBudget, ReservationsMoveAndAreGivenBackOnce) {
  MemoryBudget budget(100);
  MemoryBudget::Reservation kept;
  {
    auto moved = budget.reserve(30, "a");
    kept = std::move(moved);
  }
  EXPECT_EQ(budget.used_bytes(), 30u);
  {
    MemoryBudget::Reservation const taken(std::move(kept));
    EXPECT_EQ(budget.used_bytes(), 30u);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
  kept = {};
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudget, AssigningNothingGivesBackAtOnce) {
  MemoryBudget budget(100);
  auto reservation = budget.reserve(80, "a");
  reservation = {};
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudget, NeverGivesMoreThanTheLimitToManyThreads) {
  constexpr std::uint64_t kLimit = 8;
  MemoryBudget budget(kLimit);
  std::atomic<std::uint64_t> held{0}, most{0}, refused{0}, granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        std::uint64_t const bytes = 1 + static_cast<std::uint64_t>((i + t) % 3);
        try {
          auto const reservation = budget.reserve(bytes, "x");
          std::uint64_t const now = held.fetch_add(bytes) + bytes;
          std::uint64_t before = most.load();
          while (before < now && !most.compare_exchange_weak(before, now)) {}
          held.fetch_sub(bytes);
          ++granted;
        } catch (Error const&) { ++refused; }
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_LE(most.load(), kLimit);
  EXPECT_EQ(granted + refused, 16000u);
  EXPECT_GT(granted.load(), 0u);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudget, KeepsWhatIsCharged) {
  MemoryBudget budget(100);
  budget.charge(60, "a");
  EXPECT_EQ(budget.used_bytes(), 60u);
  EXPECT_THROW(budget.charge(41, "b"), Error);
  EXPECT_EQ(budget.used_bytes(), 60u);
  budget.charge(40, "c");
  EXPECT_EQ(budget.used_bytes(), 100u);
}

}  // namespace
}  // namespace terrazzo
