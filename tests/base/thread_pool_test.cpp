// SPDX-License-Identifier: Apache-2.0
//
// Also run under ThreadSanitizer.
#include "base/thread_pool.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo {
namespace {

// Work shared by a counter, as the engines do it: each item is done once, whoever runs.
std::vector<int> run_counter(unsigned threads, int items) {
  std::vector<int> done(static_cast<std::size_t>(items), 0);
  std::atomic<int> next{0};
  run_on_pool(threads, [&](unsigned) {
    while (true) {
      int const i = next.fetch_add(1);
      if (i >= items) { return; }
      ++done[static_cast<std::size_t>(i)];  // plain memory: the pool's hand-over must order it
    }
  });
  return done;
}

TEST(ThreadPool, DoesEveryItemOnceAndItsWritesAreSeen) {
  for (unsigned const threads : {0u, 1u, 2u, 3u, 8u}) {
    auto const done = run_counter(threads, 1000);
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 1000) << threads;
    EXPECT_EQ(*std::ranges::min_element(done), 1) << threads;
  }
}

TEST(ThreadPool, RunsOneThreadInTheCaller) {
  std::thread::id ran{};
  run_on_pool(1, [&](unsigned worker) {
    EXPECT_EQ(worker, 0u);
    ran = std::this_thread::get_id();
  });
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(ThreadPool, GivesEachWorkerANumberOfItsOwn) {
  std::mutex mutex;
  std::set<unsigned> workers;
  unsigned runs = 0;
  run_on_pool(6, [&](unsigned worker) {
    {
      std::lock_guard const lock(mutex);
      workers.insert(worker);
      ++runs;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // so that others find the job open
  });
  EXPECT_EQ(workers.size(), runs) << "no number was given twice";
  EXPECT_TRUE(workers.contains(0));
  EXPECT_LT(*workers.rbegin(), 6u);
}

// A barrier of three is passed only when three bodies run at once.
TEST(ThreadPool, RunsBodiesAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  bool met = false;
  run_on_pool(3, [&](unsigned) {
    std::unique_lock lock(mutex);
    if (++here == 3) {
      met = true;
      all_here.notify_all();
    }
    all_here.wait_for(lock, std::chrono::seconds(20), [&] { return met; });
  });
  EXPECT_TRUE(met);
}

TEST(ThreadPool, RethrowsWhatTheCallersOwnBodyThrew) {
  try {
    run_on_pool(4, [](unsigned worker) {
      if (worker == 0) { throw Error(ErrorKind::malformed, "own"); }
    });
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.message(), "own"); }
}

TEST(ThreadPool, RethrowsWhatAnotherThreadThrew) {
  std::atomic<bool> thrown{false};
  auto const body = [&](unsigned worker) {
    if (worker != 0) {
      thrown = true;
      throw std::runtime_error("other");
    }
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!thrown && std::chrono::steady_clock::now() < give_up) { std::this_thread::yield(); }
  };
  EXPECT_THROW(run_on_pool(2, body), std::runtime_error);
}

TEST(ThreadPool, ReturnsOnlyAfterAllBodiesAlsoWhenOneThrows) {
  std::atomic<int> inside{0};
  for (int round = 0; round < 20; ++round) {
    try {
      run_on_pool(4, [&](unsigned worker) {
        ++inside;
        std::this_thread::sleep_for(std::chrono::milliseconds(worker == 0 ? 0 : 2));
        --inside;
        if (worker == 0) { throw std::runtime_error("early"); }
      });
      FAIL();
    } catch (std::runtime_error const&) { EXPECT_EQ(inside, 0); }
  }
}

// Jobs that are over before the threads called for them wake: those must neither run a body that is gone nor be lost.
TEST(ThreadPool, IsWholeAfterJobsThatWereOverBeforeAnybodyCame) {
  auto const many_short_jobs = [] {
    for (int round = 0; round < 3000; ++round) {
      std::atomic<int> inside{0};
      std::atomic<unsigned> numbers{0};
      run_on_pool(5, [&](unsigned worker) {
        ++inside;
        EXPECT_EQ(numbers.fetch_or(1U << worker) & 1U << worker, 0u) << "a number was given twice";
        --inside;
      });
      ASSERT_EQ(inside, 0);
      ASSERT_EQ(numbers & 1U, 1u);
    }
  };
  {
    std::jthread const one(many_short_jobs), two(many_short_jobs);
    many_short_jobs();
  }
  std::atomic<int> here{0};
  run_on_pool(5, [&](unsigned) {
    ++here;
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here < 5 && std::chrono::steady_clock::now() < give_up) { std::this_thread::yield(); }
  });
  EXPECT_EQ(here, 5) << "all of them are there for the next job";
}

TEST(ThreadPool, IsWholeAfterAFailure) {
  EXPECT_THROW(run_on_pool(4, [](unsigned) { throw std::runtime_error("all"); }), std::runtime_error);
  auto const done = run_counter(4, 100);
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 100);
}

TEST(ThreadPool, MayBeUsedFromInsideItself) {
  std::atomic<int> leaves{0};
  run_on_pool(4, [&](unsigned) { run_on_pool(4, [&](unsigned) { run_on_pool(3, [&](unsigned) { ++leaves; }); }); });
  EXPECT_GE(leaves, 1);
}

// Every pool thread sits in a body that waits for the second caller: it must get through alone.
TEST(ThreadPool, MakesProgressWhenEveryThreadIsBusy) {
  std::atomic<bool> second_done{false};
  std::atomic<bool> busy{false};
  std::thread first([&] {
    run_on_pool(4, [&](unsigned) {
      busy = true;
      auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!second_done && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_TRUE(second_done);
    });
  });
  while (!busy) { std::this_thread::yield(); }
  auto const done = run_counter(4, 50);
  second_done = true;
  first.join();
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 50);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> total{0};
  for (int c = 0; c < 10; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 20; ++round) {
        bool const throws = (c + round) % 5 == 0;
        try {
          auto const done = run_counter(3, 40);
          total += std::accumulate(done.begin(), done.end(), 0);
          if (throws) {
            run_on_pool(3, [&](unsigned) { throw std::runtime_error(std::to_string(c)); });
            ADD_FAILURE();
          }
        } catch (std::runtime_error const& error) {
          EXPECT_EQ(error.what(), std::to_string(c)) << "a caller gets its own failure";
        }
      }
    });
  }
  for (std::thread& caller : callers) { caller.join(); }
  EXPECT_EQ(total, 10 * 20 * 40);
}

// ThreadSanitizer does not support threads in a child of a process with threads. GCC and clang tell it differently.
#if defined(__SANITIZE_THREAD__)
#define TERRAZZO_TEST_HAS_TSAN 1
#elif defined(__has_feature)
#define TERRAZZO_TEST_HAS_TSAN __has_feature(thread_sanitizer)
#else
#define TERRAZZO_TEST_HAS_TSAN 0
#endif
#if !TERRAZZO_TEST_HAS_TSAN
// Python's multiprocessing and torch's DataLoader fork processes that have read already.
TEST(ThreadPool, AChildOfForkHasThreadsOfItsOwn) {
  run_on_pool(4, [](unsigned) {});
  pid_t const child = ::fork();
  if (child == 0) {
    // Two threads meet: with the parent's threads only, the second would never come.
    std::atomic<int> there{0};
    ::alarm(20);
    run_on_pool(2, [&](unsigned) {
      ++there;
      while (there < 2) { std::this_thread::yield(); }
    });
    ::_exit(there == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace terrazzo
