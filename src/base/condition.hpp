// SPDX-License-Identifier: Apache-2.0
//
// Waits for a condition variable. std::condition_variable::wait() got a new symbol in libstdc++ 12 (GLIBCXX_3.4.30),
// and a binary that needs it does not start with an older library (the contributor guide, "Old systems").
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <mutex>

namespace terrazzo {

// Sleeps until `is_met()` is true. As std::condition_variable::wait(). REQUIRES: `lock` holds its mutex.
template <class Predicate>
void wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Predicate is_met) {
  while (!is_met()) { pthread_cond_wait(changed.native_handle(), lock.mutex()->native_handle()); }
}

}  // namespace terrazzo
