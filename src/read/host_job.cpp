// SPDX-License-Identifier: Apache-2.0
#include "read/host_job.hpp"

#include "read/read_report.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::reading {

std::optional<HostJob::Tasks> HostJob::take() noexcept {
  std::uint64_t const first = next_task_.fetch_add(read_.tasks_at_once, std::memory_order_relaxed);
  if (first >= read_.tasks || first > first_failure_.load(std::memory_order_relaxed) || stopped_) {
    return std::nullopt;
  }
  return Tasks{first, std::min(read_.tasks_at_once, read_.tasks - first)};
}

void HostJob::fail(std::uint64_t task, Error const& error) {
  std::lock_guard const lock(mutex_);
  if (failure_ && failed_task_ <= task) { return; }
  failure_ = error;
  failed_task_ = task;
  first_failure_.store(task, std::memory_order_relaxed);
}

void HostJob::add(ReadReport counts) {
  std::lock_guard const lock(mutex_);
  add_report(found_, std::move(counts));
}

bool HostJob::tell_progress(std::uint64_t tasks_done) {
  ReadRequest const& request = read_.request;
  if (request.cancel != nullptr && request.cancel->load(std::memory_order_relaxed)) { return cancel(); }
  if (!request.progress) { return true; }
  std::unique_lock const lock(progress_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || stopped_) { return !stopped_; }
  told_ = std::max(told_, read_.blocks_in(tasks_done));
  try {
    return request.progress(told_, read_.plan.block_count()) || cancel();
  } catch (...) {
    stopped_ = true;  // while the lock is held: nobody calls the function after it threw
    throw;
  }
}

bool HostJob::cancel() {
  stopped_ = true;
  fail(0, Error(ErrorKind::cancelled, "the read was cancelled", {.source = read_.plan.level->source->name()}));
  return false;
}

void HostJob::finish(ReadReport& report) {
  ReadPlan::Impl const& plan = read_.plan;
  std::ranges::sort(found_.bad_tiles, {}, [&](BadTileReport const& bad) { return plan.block_number(bad.tile); });
  add_report(report, std::move(found_));
  if (failure_) { throw *failure_; }
  if (read_.request.progress) { read_.request.progress(plan.block_count(), plan.block_count()); }
}

}  // namespace terrazzo::reading
