// SPDX-License-Identifier: Apache-2.0
#include "read/host/fetch_ahead.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace terrazzo::reading {

bool FetchAhead::wants_more() const noexcept {
  if (batches_.empty()) { return true; }
  return !is_blocked_ && requests_ - batches_.front().requests < read_.requests_ahead;
}

void FetchAhead::add(Batch batch) {
  if (read_.requests_ahead > 0 && !batch.failure && !batch.blocks.empty()) { submit(batch); }
  requests_ += batch.requests;
  batches_.push_back(std::move(batch));
}

void FetchAhead::submit(Batch& batch) {
  try {
    auto fetcher = std::make_unique<BlockFetcher>(*read_.plan.level, read_.method, read_.budget, scratch_);
    is_blocked_ = !fetcher->try_submit(batch.blocks, free_bytes_);
    if (is_blocked_) { return; }
    batch.requests = std::max<std::uint64_t>(1, fetcher->ranges().size());
    batch.bytes = fetcher->bytes_in_flight();
    free_bytes_ -= batch.bytes;
    batch.fetcher = std::move(fetcher);
  } catch (Error const&) { is_blocked_ = true; } catch (std::bad_alloc const&) {
    is_blocked_ = true;
  }
}

FetchAhead::Batch FetchAhead::take() {
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  requests_ -= batch.requests;
  if (batches_.empty()) { is_blocked_ = false; }  // the batch that was not submitted is the newest
  free_bytes_ += std::exchange(bytes_in_hand_, batch.bytes);
  return batch;
}

}  // namespace terrazzo::reading
