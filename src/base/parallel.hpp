// SPDX-License-Identifier: Apache-2.0
//
// Loops on the process's thread pool. A loop returns after every call has returned, and rethrows the first exception.
#pragma once

#include "base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace terrazzo {

// Calls body(first, last, worker) for ranges of `grain` that cover [0, count); worker < threads.
template <class Body>
void parallel_ranges(std::uint64_t count, std::uint64_t grain, unsigned threads, Body const& body) {
  std::uint64_t const step = std::max<std::uint64_t>(grain, 1);
  std::uint64_t const ranges = count / step + (count % step != 0 ? 1 : 0);
  auto const workers = static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads, 1U), ranges));
  if (workers == 0) { return; }
  std::atomic<std::uint64_t> next{0};
  run_on_pool(workers, [&](unsigned worker) {
    for (std::uint64_t range = next++; range < ranges; range = next++) {
      body(range * step, std::min(count, (range + 1) * step), worker);
    }
  });
}

// Calls body(index) for every index in [0, count), each on the next free thread.
template <class Body>
void parallel_for(std::uint64_t count, unsigned threads, Body const& body) {
  parallel_ranges(count, 1, threads, [&](std::uint64_t index, std::uint64_t, unsigned) { body(index); });
}

}  // namespace terrazzo
