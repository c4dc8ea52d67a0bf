// SPDX-License-Identifier: Apache-2.0
#include "io/callback_source.hpp"

#include "base/checked.hpp"
#include "base/condition.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <system_error>
#include <utility>

namespace terrazzo::io {

struct CallbackSource::Submission {
  std::vector<RangeRead> ranges;
  std::promise<void> done{};
  std::mutex mutex{};  // guards the members below
  std::size_t left = 0;
  std::exception_ptr failure{};  // failure of the first range, independent of the lanes' order
  std::size_t failed_range = 0;

  void finish(std::size_t range, std::exception_ptr why) noexcept {
    bool is_last = false;
    {
      std::lock_guard const lock(mutex);
      if (why && (!failure || range < failed_range)) {
        failure = std::move(why);
        failed_range = range;
      }
      is_last = --left == 0;
    }
    if (is_last) { done.set_value(); }
  }

  // The waiting thread takes the failure over, so that no lane frees an exception that its catcher still reads. (A
  // promise would keep a reference in the lane; ThreadSanitizer reports the exception's reference count.)
  static ReadTicket ticket(std::shared_ptr<Submission> const& submission) {
    return ReadTicket(std::async(std::launch::deferred, [submission, finished = submission->done.get_future()] {
      finished.wait();
      if (submission->failure) { std::rethrow_exception(std::exchange(submission->failure, nullptr)); }
    }));
  }
};

CallbackSource::CallbackSource(std::string name, std::uint64_t size_bytes, ReadAt read_at, SourceHints const& hints)
    : name_(std::move(name)),
      size_bytes_(size_bytes),
      read_at_(std::move(read_at)),
      hints_(hints),
      max_lanes_(hints.requests_in_flight > 1 ? std::min<std::size_t>(hints.requests_in_flight, kMaxLanes) : 0) {
  if (!read_at_) { throw Error(ErrorKind::usage, "the source has no function to read with", {.source = name_}); }
}

CallbackSource::~CallbackSource() {
  {
    std::lock_guard const lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& lane : lanes_) { lane.join(); }
}

void CallbackSource::fill(RangeRead const& range) const {
  std::uint64_t offset_bytes = range.offset_bytes;
  for (std::span<std::byte> left = range.into; !left.empty();) {
    std::size_t const got = read_at_(offset_bytes, left);
    if (got == 0 || got > left.size()) {
      throw Error(ErrorKind::io,
                  got == 0 ? text("the source ended here, ", left.size(), " bytes early")
                           : text("the source returned ", got, " bytes where ", left.size(), " were asked for"),
                  {.source = name_, .offset = offset_bytes});
    }
    offset_bytes += got;
    left = left.subspan(got);
  }
}

ReadTicket CallbackSource::submit(std::span<RangeRead const> ranges) const {
  for (RangeRead const& range : ranges) {
    if (!range_fits(range.offset_bytes, range.into.size(), size_bytes_)) {
      return ReadTicket(std::make_exception_ptr(
          Error(ErrorKind::io, text("read of ", range.into.size(), " bytes reaches past the end (", size_bytes_, ")"),
                {.source = name_, .offset = range.offset_bytes})));
    }
  }
  if (max_lanes_ == 0) {
    try {
      for (RangeRead const& range : ranges) { fill(range); }
    } catch (...) { return ReadTicket(std::current_exception()); }
    return {};
  }
  if (ranges.empty()) { return {}; }
  auto const submission = std::make_shared<Submission>();
  submission->ranges.assign(ranges.begin(), ranges.end());
  submission->left = ranges.size();
  ReadTicket ticket = Submission::ticket(submission);
  {
    std::unique_lock lock(mutex_);
    std::size_t const waiting_before = waiting_.size();
    try {
      for (std::size_t i = 0; i < ranges.size(); ++i) { waiting_.push_back({submission, i}); }
      start_lanes();
    } catch (...) {
      waiting_.resize(waiting_before);  // no lane has seen them: the lock was held
      lock.unlock();
      submission->failure = std::current_exception();
      submission->done.set_value();
      return ticket;
    }
  }
  changed_.notify_all();
  return ticket;
}

void CallbackSource::start_lanes() const {
  while (idle_lanes_ < waiting_.size() && lanes_.size() < max_lanes_) {
    try {
      lanes_.emplace_back([this] { run_lane(); });
    } catch (std::system_error const&) {
      if (lanes_.empty()) { throw; }
      return;  // no more threads are available: the running ones do the work
    }
    ++idle_lanes_;  // idle until it takes a request
  }
}

void CallbackSource::run_lane() const noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    wait_until(changed_, lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) { return; }
    Request const request = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_lanes_;
    lock.unlock();
    serve(request);
    lock.lock();
    ++idle_lanes_;
  }
}

void CallbackSource::serve(Request const& request) const noexcept {
  std::exception_ptr failure;
  try {
    fill(request.of->ranges[request.range]);
  } catch (...) { failure = std::current_exception(); }
  request.of->finish(request.range, std::move(failure));
}

}  // namespace terrazzo::io

namespace terrazzo {

ByteSourcePtr callback_source(std::string name, std::uint64_t size_bytes, ReadAt read_at, SourceHints const& hints) {
  return std::make_shared<io::CallbackSource const>(std::move(name), size_bytes, std::move(read_at), hints);
}

}  // namespace terrazzo
