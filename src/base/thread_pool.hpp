// SPDX-License-Identifier: Apache-2.0
//
// One pool for the process. A call runs its body on several threads at once; the caller's thread is one of them, so a
// call always makes progress, also from inside another call and when every pool thread is busy.
#pragma once

#include <functional>

namespace terrazzo {

// Runs body(worker) for worker = 0 (this thread) and, as pool threads are free, for 1 .. threads - 1; returns when
// all that started have returned. Bodies share the work out among themselves (an atomic counter): how many run is
// not promised. The first exception is rethrown here, after all have returned.
void run_on_pool(unsigned threads, std::function<void(unsigned worker)> const& body);

}  // namespace terrazzo
