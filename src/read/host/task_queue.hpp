// SPDX-License-Identifier: Apache-2.0
//
// The mutable state that the workers of a one-job read share: the next task and the state of the read. Thread rule: any
// thread may call any member except finish().
#pragma once

#include "read/host/read_context.hpp"
#include "read/host/read_state.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace terrazzo::reading {

// The order of a failure is the number of its task.
class TaskQueue : public ReadState {
 public:
  explicit TaskQueue(ReadContext const& read)
      : ReadState(read.request, read.plan.level->source->name(), read.plan.block_count()), read_(read) {}

  struct Tasks {
    std::uint64_t first, count;
  };
  // Returns nullopt if no task is left. After a failure, only tasks before the failed one are left.
  [[nodiscard]] std::optional<Tasks> take() noexcept;

  // tell_blocks() for a number of tasks.
  bool tell_progress(std::uint64_t tasks_done) { return tell_blocks(read_.blocks_in(tasks_done)); }

  // Like ReadState::finish(); bad tiles are in file order.
  void finish(ReadReport& report);

 private:
  ReadContext const& read_;
  std::atomic<std::uint64_t> next_task_{0};
};

}  // namespace terrazzo::reading
