// SPDX-License-Identifier: Apache-2.0
#include "read/host/task_queue.hpp"

#include <algorithm>

namespace terrazzo::reading {

std::optional<TaskQueue::Tasks> TaskQueue::take() noexcept {
  std::uint64_t const first = next_task_.fetch_add(read_.tasks_at_once, std::memory_order_relaxed);
  if (first >= read_.tasks || !is_wanted(first) || is_stopped()) { return std::nullopt; }
  return Tasks{first, std::min(read_.tasks_at_once, read_.tasks - first)};
}

void TaskQueue::finish(ReadReport& report) {
  ReadPlan::Impl const& plan = read_.plan;
  std::ranges::sort(found().bad_tiles, {}, [&](BadTileReport const& bad) { return plan.block_number(bad.tile); });
  ReadState::finish(report);
}

}  // namespace terrazzo::reading
