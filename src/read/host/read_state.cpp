// SPDX-License-Identifier: Apache-2.0
#include "read/host/read_state.hpp"

#include "read/read_report.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::reading {

void ReadState::fail(std::uint64_t order, Error const& error) {
  std::lock_guard const lock(mutex_);
  if (failure_ && failed_order_ <= order) { return; }
  failure_ = error;
  failed_order_ = order;
  first_failure_.store(order, std::memory_order_relaxed);
}

void ReadState::add(ReadReport counts) {
  std::lock_guard const lock(mutex_);
  add_report(found_, std::move(counts));
}

bool ReadState::tell_blocks(std::uint64_t blocks_done) {
  if (request_.cancel != nullptr && request_.cancel->load(std::memory_order_relaxed)) { return cancel(); }
  if (!request_.progress) { return true; }
  std::unique_lock const lock(progress_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || stopped_) { return !stopped_; }
  told_ = std::max(told_, blocks_done);
  try {
    return request_.progress(told_, blocks_) || cancel();
  } catch (...) {
    stopped_ = true;  // set under the lock: no thread calls the function after it threw
    throw;
  }
}

bool ReadState::cancel() {
  stopped_ = true;
  fail(0, Error(ErrorKind::cancelled, "the read was cancelled", {.source = source_}));
  return false;
}

void ReadState::finish(ReadReport& report) {
  add_report(report, std::move(found_));
  if (failure_) { throw *failure_; }
  if (request_.progress) { request_.progress(blocks_, blocks_); }
}

}  // namespace terrazzo::reading
