// SPDX-License-Identifier: Apache-2.0
//
// What the libraries that Python's benchmarks load have in common. Included by one source of each.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo::bench {

inline std::string g_error;

// 0, or -1 with the reason in g_error.
inline int guarded(std::function<void()> const& work) {
  try {
    work();
    return 0;
  } catch (std::exception const& error) {
    g_error = error.what();
    return -1;
  }
}

// Threads that share out one piece of work after the other, and sleep in between.
class Crew {
 public:
  explicit Crew(unsigned threads) {
    for (unsigned t = 1; t < threads; ++t) {
      others_.emplace_back([this, t] { serve(t); });
    }
  }
  ~Crew() {
    count_ = 0;
    ended_ = true;
    turn_.fetch_add(1);
    turn_.notify_all();
  }
  Crew(Crew const&) = delete;
  Crew& operator=(Crew const&) = delete;

  // Calls work(thread, i) for i below count, each thread taking the next one.
  void run(std::uint64_t count, std::function<void(unsigned, std::uint64_t)> const& work) {
    work_ = &work;
    count_ = count;
    next_ = 0;
    busy_ = static_cast<unsigned>(others_.size());
    turn_.fetch_add(1);
    turn_.notify_all();
    share(0);
    for (unsigned left = busy_; left != 0; left = busy_) { busy_.wait(left); }
    if (failure_) { std::rethrow_exception(failure_); }
  }

 private:
  void serve(unsigned thread) {
    for (unsigned seen = 0; !ended_;) {
      turn_.wait(seen);
      seen = turn_;
      if (ended_) { return; }
      share(thread);
      if (busy_.fetch_sub(1) == 1) { busy_.notify_one(); }
    }
  }
  void share(unsigned thread) {
    try {
      for (std::uint64_t i = next_++; i < count_; i = next_++) { (*work_)(thread, i); }
    } catch (...) {
      next_ = count_;
      std::scoped_lock const lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  std::function<void(unsigned, std::uint64_t)> const* work_ = nullptr;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<unsigned> turn_{0}, busy_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> others_;
};

// One piece of work, by threads that begin with it: those of a crew sleep first, and are slower to spread over the
// cores (10 % of 100 ms on 16).
inline void in_parallel(unsigned threads, std::uint64_t count,
                        std::function<void(unsigned, std::uint64_t)> const& work) {
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto const loop = [&](unsigned thread) {
    try {
      for (std::uint64_t i = next++; i < count; i = next++) { work(thread, i); }
    } catch (...) {
      next = count;
      std::scoped_lock const lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads; ++t) { others.emplace_back(loop, t); }
    loop(0);
  }
  if (failure) { std::rethrow_exception(failure); }
}

}  // namespace terrazzo::bench
