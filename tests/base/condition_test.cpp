// SPDX-License-Identifier: Apache-2.0
#include "base/condition.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace terrazzo {
namespace {

TEST(WaitUntil, ReturnsAtOnceIfTheConditionIsMet) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  wait_until(changed, lock, [] { return true; });
  EXPECT_TRUE(lock.owns_lock());
}

TEST(WaitUntil, ReleasesTheMutexWhileItSleepsAndHoldsItAfterwards) {
  std::mutex mutex;
  std::condition_variable changed;
  int turns = 0;  // guarded by the mutex: both threads take turns
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      std::unique_lock lock(mutex);
      wait_until(changed, lock, [&] { return turns % 2 == 1; });
      ++turns;
      changed.notify_all();
    }
  });
  for (int i = 0; i < 100; ++i) {
    std::unique_lock lock(mutex);
    wait_until(changed, lock, [&] { return turns % 2 == 0; });
    ++turns;
    changed.notify_all();
  }
  other.join();
  EXPECT_EQ(turns, 200);
}

TEST(WaitUntil, SleepsOnIfItIsWokenWithoutTheCondition) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_met = false;
  std::atomic<bool> has_returned = false;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    wait_until(changed, lock, [&] { return is_met; });
    has_returned = true;
  });
  for (int i = 0; i < 50; ++i) {
    changed.notify_all();
    std::this_thread::yield();
    EXPECT_FALSE(has_returned);
  }
  {
    std::lock_guard const lock(mutex);
    is_met = true;
  }
  changed.notify_all();
  sleeper.join();
  EXPECT_TRUE(has_returned);
}

}  // namespace
}  // namespace terrazzo
