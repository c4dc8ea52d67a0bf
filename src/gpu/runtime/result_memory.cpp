// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/result_memory.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <new>
#include <utility>

namespace terrazzo::gpu {

namespace {

struct PendingResult {
  StreamHandle stream;
  DeviceBuffer buffer;
  std::vector<EventHandle> events;
};

struct PendingList {
  std::mutex mutex;
  std::list<PendingResult> results;
};

PendingList& pending() {
  static auto* const list = new PendingList;  // never destroyed: at exit the driver may unload first
  return *list;
}

// An event belongs to the device that is current when it is made.
EventHandle recorded_event(cudaStream_t stream) {
  EventHandle event = make_event();
  check_cuda(cudaEventRecord(event.get(), stream), "recording a stream");
  return event;
}

// A failed query counts as done: the context is broken, and so is the free.
bool is_done(EventHandle const& event) noexcept {
  if (cudaEventQuery(event.get()) != cudaErrorNotReady) { return true; }
  (void)cudaGetLastError();
  return false;
}

bool is_done(PendingResult const& result) noexcept {
  return std::ranges::all_of(result.events, [](EventHandle const& event) { return is_done(event); });
}

}  // namespace

ResultMemory::ResultMemory(std::shared_ptr<DeviceAllocator> allocator, std::size_t bytes)
    : device_(current_device()), stream_(make_stream()) {
  free_finished_results();
  buffer_ = DeviceBuffer(std::move(allocator), std::max<std::size_t>(1, bytes), stream_.get(), "the result");
  sync_stream(stream_.get(), "allocating device memory");
}

ResultMemory::~ResultMemory() {
  if ((recorded_.empty() && events_.empty()) || device_is_lost()) { return; }
  PendingResult result{std::move(stream_), std::move(buffer_), std::move(events_)};
  try {
    CurrentDevice const current(device_);
    for (cudaStream_t const stream : recorded_) { result.events.push_back(recorded_event(stream)); }
    if (is_done(result)) { return; }
    std::lock_guard const lock(pending().mutex);
    pending().results.push_back(std::move(result));
  } catch (...) {
    // Without an event the end of the work is unknown: abandon the memory.
    (void)cudaGetLastError();
    (void)new (std::nothrow) PendingResult(std::move(result));
  }
}

void ResultMemory::record_stream(StreamView stream) {
  std::lock_guard const lock(mutex_);
  if (stream == StreamView::per_thread_default()) {
    CurrentDevice const current(device_);
    events_.push_back(recorded_event(stream.get()));
    return;
  }
  cudaStream_t const named = (stream ? stream : StreamView::legacy_default()).get();
  if (std::ranges::find(recorded_, named) == recorded_.end()) { recorded_.push_back(named); }
}

void free_finished_results() noexcept {
  if (device_is_lost()) { return; }
  std::list<PendingResult> finished;  // freed without holding the lock
  std::lock_guard const lock(pending().mutex);
  auto& results = pending().results;
  for (auto it = results.begin(); it != results.end();) {
    auto const next = std::next(it);
    if (is_done(*it)) { finished.splice(finished.end(), results, it); }
    it = next;
  }
}

bool wait_for_pending_results() {
  std::list<PendingResult> results;
  {
    std::lock_guard const lock(pending().mutex);
    results.swap(pending().results);
  }
  for (PendingResult const& result : results) {
    for (EventHandle const& event : result.events) { sync_callers_event(event.get(), "waiting for a recorded stream"); }
  }
  return !results.empty();
}

std::uint64_t pending_result_bytes() {
  std::lock_guard const lock(pending().mutex);
  std::uint64_t bytes = 0;
  for (PendingResult const& result : pending().results) { bytes += result.buffer.size_bytes(); }
  return bytes;
}

}  // namespace terrazzo::gpu
