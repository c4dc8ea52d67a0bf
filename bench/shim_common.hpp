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

// Calls work(thread, i) for i below count, on `threads` threads, each taking the next one.
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
