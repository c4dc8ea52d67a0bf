// SPDX-License-Identifier: Apache-2.0
//
// The batches of blocks that one worker has taken and not decoded yet, oldest first. If the source serves several
// requests at once (SourceHints::requests_in_flight), the worker submits batches ahead of the one that it decodes;
// otherwise there is one batch at a time, and the worker fetches it when it decodes it.
// Thread rule: one thread.
#pragma once

#include "read/blocks/fetcher.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/host/read_context.hpp"
#include "read/host/task_queue.hpp"

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

namespace terrazzo::reading {

class FetchAhead {
 public:
  struct Batch {
    TaskQueue::Tasks tasks{};
    std::vector<std::uint64_t> blocks{}, to_decode{};  // numbers of the blocks to fetch, and the task of each
    std::exception_ptr failure{};  // set if the tasks could not be prepared
    // Null: the batch was not submitted ahead.
    std::unique_ptr<BlockFetcher> fetcher{};
    std::uint64_t requests = 1, bytes = 0;  // in flight; a batch without requests counts as one
  };

  // The arguments outlive the object.
  FetchAhead(ReadContext const& read, ThreadScratch& scratch) noexcept
      : read_(read), scratch_(scratch), free_bytes_(read.ahead_bytes) {}

  [[nodiscard]] bool is_empty() const noexcept { return batches_.empty(); }

  // True if the worker should take another batch before it decodes the oldest: either no batch is left, or too few
  // requests are in flight after the oldest.
  [[nodiscard]] bool wants_more() const noexcept;

  // Adds a batch. Submits it if the read fetches ahead and the batch fits in the memory for that. If the submission
  // fails, the worker tries again when it decodes the batch, and reports a failure in the order of batches.
  void add(Batch batch);

  // Takes the oldest batch. Its memory counts until the next call. REQUIRES: !is_empty().
  [[nodiscard]] Batch take();

 private:
  void submit(Batch& batch);

  ReadContext const& read_;
  ThreadScratch& scratch_;
  std::deque<Batch> batches_{};
  std::uint64_t requests_ = 0;  // sums over all batches
  std::uint64_t free_bytes_;
  std::uint64_t bytes_in_hand_ = 0;  // bytes of the batch that was taken last
  bool is_blocked_ = false;  // the newest batch could not be submitted
};

}  // namespace terrazzo::reading
