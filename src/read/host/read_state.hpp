// SPDX-License-Identifier: Apache-2.0
//
// The mutable state that the workers of one read share, whatever their tasks are: the first failure, progress,
// cancellation, the report. Thread rule: any thread may call any member except finish().
#pragma once

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

namespace terrazzo::reading {

class ReadState {
 public:
  // `blocks` is the total of the progress; `source` is named in the error of a cancelled read. The arguments outlive
  // this object.
  ReadState(ReadRequest const& request, std::string const& source, std::uint64_t blocks) noexcept
      : request_(request), source_(source), blocks_(blocks) {}

  // finish() throws the failure with the lowest order, independent of the timing of threads.
  void fail(std::uint64_t order, Error const& error);
  // False if a failure of a lower order is known: a failure of this order would be ignored.
  [[nodiscard]] bool is_wanted(std::uint64_t order) const noexcept {
    return order <= first_failure_.load(std::memory_order_relaxed);
  }
  // Stops the other workers after the read has failed.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

  // Adds the report of a worker.
  void add(ReadReport counts);

  // Returns false if the read was cancelled. Passes on an exception of the progress function.
  bool tell_blocks(std::uint64_t blocks_done);

  // Call it when all workers are done: adds to the report, then throws the failure or reports the end of progress.
  void finish(ReadReport& report);

 protected:
  [[nodiscard]] ReadReport& found() noexcept { return found_; }

 private:
  bool cancel();

  ReadRequest const& request_;
  std::string const& source_;
  std::uint64_t blocks_;
  std::atomic<std::uint64_t> first_failure_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards failure_, failed_order_, found_
  std::optional<Error> failure_;
  std::uint64_t failed_order_ = 0;
  ReadReport found_;
  std::mutex progress_mutex_;
  std::uint64_t told_ = 0;  // guarded by progress_mutex_
};

}  // namespace terrazzo::reading
