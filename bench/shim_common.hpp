// SPDX-License-Identifier: Apache-2.0
//
// Code shared by the libraries that the Python benchmarks load. One source of each library includes it.
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

// Pieces of work that threads share out.
class Pieces {
 public:
  using Work = std::function<void(unsigned thread, std::uint64_t piece)>;

  void begin(std::uint64_t count, Work const& work) noexcept {
    work_ = &work;
    count_ = count;
    next_ = 0;
  }
  // Each thread takes the next one, until none is left or one failed.
  void share(unsigned thread) {
    try {
      for (std::uint64_t i = next_++; i < count_; i = next_++) { (*work_)(thread, i); }
    } catch (...) {
      next_ = count_;
      std::scoped_lock const lock(mutex_);
      failure_ = std::current_exception();
    }
  }
  // Call after all threads have ended. Rethrows the exception of one of them.
  void finish() const {
    if (failure_) { std::rethrow_exception(failure_); }
  }

 private:
  Work const* work_ = nullptr;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

// Threads that share out one job after the other, and sleep in between.
class Crew {
 public:
  explicit Crew(unsigned threads) {
    for (unsigned t = 1; t < threads; ++t) {
      others_.emplace_back([this, t] { serve(t); });
    }
  }
  ~Crew() {
    ended_ = true;
    turn_.fetch_add(1);
    turn_.notify_all();
  }
  Crew(Crew const&) = delete;
  Crew& operator=(Crew const&) = delete;

  void run(std::uint64_t count, Pieces::Work const& work) {
    pieces_.begin(count, work);
    busy_ = static_cast<unsigned>(others_.size());
    turn_.fetch_add(1);
    turn_.notify_all();
    pieces_.share(0);
    for (unsigned left = busy_; left != 0; left = busy_) { busy_.wait(left); }
    pieces_.finish();
  }

 private:
  void serve(unsigned thread) {
    for (unsigned seen = 0; !ended_;) {
      turn_.wait(seen);
      seen = turn_;
      if (ended_) { return; }
      pieces_.share(thread);
      if (busy_.fetch_sub(1) == 1) { busy_.notify_one(); }
    }
  }

  Pieces pieces_;
  std::atomic<unsigned> turn_{0}, busy_{0};
  std::atomic<bool> ended_{false};
  std::vector<std::jthread> others_;
};

// One job, by threads that begin with it: those of a crew sleep first, and are slower to spread over the cores (10 % of
// 100 ms on 16).
inline void in_parallel(unsigned threads, std::uint64_t count, Pieces::Work const& work) {
  Pieces pieces;
  pieces.begin(count, work);
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads; ++t) {
      others.emplace_back([&pieces, t] { pieces.share(t); });
    }
    pieces.share(0);
  }
  pieces.finish();
}

}  // namespace terrazzo::bench
