// SPDX-License-Identifier: Apache-2.0
//
// What the workers of one read on the host share and change: the next task, the first failure, progress, the report.
// Any thread may call any of it but finish().
#pragma once

#include "read/host_read.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

namespace terrazzo::reading {

class HostJob {
 public:
  explicit HostJob(HostRead const& read) : read_(read) {}

  struct Tasks {
    std::uint64_t first, count;
  };
  // Nothing when none is left, or none is wanted: after a failure only those before it are.
  [[nodiscard]] std::optional<Tasks> take() noexcept;

  // Of the failures, the one of the first task is thrown in the end, whatever the threads.
  void fail(std::uint64_t task, Error const& error);
  // What a worker came to.
  void add(ReadReport counts);
  // When the read is lost, the other workers need not finish it.
  void stop() noexcept { stopped_ = true; }

  // False when the read was cancelled. An exception of the progress function is thrown on.
  bool tell_progress(std::uint64_t tasks_done);

  // When all workers are done: adds to the report, then throws the failure or tells the end of progress.
  void finish(ReadReport& report);

 private:
  bool cancel();

  HostRead const& read_;
  std::atomic<std::uint64_t> next_task_{0};
  std::atomic<std::uint64_t> first_failure_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards failure_, failed_task_, found_
  std::optional<Error> failure_;
  std::uint64_t failed_task_ = 0;
  ReadReport found_;
  std::mutex progress_mutex_;
  std::uint64_t told_ = 0;  // guarded by progress_mutex_
};

}  // namespace terrazzo::reading
