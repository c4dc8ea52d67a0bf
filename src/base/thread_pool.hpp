// SPDX-License-Identifier: Apache-2.0
//
// The process's thread pool. A call runs its body on several threads at once; the calling thread is one of them, so a
// call always makes progress, also inside another call and if every pool thread is busy.
#pragma once

#include <functional>

namespace terrazzo {

// Runs body(worker) for worker = 0 (this thread) and, as pool threads are free, for 1 .. threads - 1; returns when
// all started bodies have returned. Bodies divide the work among themselves (an atomic counter); the number of bodies
// that run is unspecified. The first exception is rethrown after all have returned.
void run_on_pool(unsigned threads, std::function<void(unsigned worker)> const& body);

}  // namespace terrazzo
