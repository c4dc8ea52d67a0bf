// SPDX-License-Identifier: Apache-2.0
//
// The caller's blocking function as a source. With more than one request in flight the source has lanes: threads that
// it starts while requests wait, and joins in its destructor. The ticket rethrows the function's exceptions unchanged;
// open() turns them into an Error (read/open/checked_source.hpp).
#pragma once

#include "terrazzo/source.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo::io {

class CallbackSource final : public ByteSource {
 public:
  // Threads cost memory and start-up time; further requests wait for a free lane.
  static constexpr std::size_t kMaxLanes = 256;

  CallbackSource(std::string name, std::uint64_t size_bytes, ReadAt read_at, SourceHints const& hints);
  ~CallbackSource() override;

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] SourceHints hints() const noexcept override { return hints_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  struct Submission;  // ranges of one submit() and the number still to read
  struct Request {
    std::shared_ptr<Submission> of;
    std::size_t range;
  };

  void fill(RangeRead const& range) const;
  void serve(Request const& request) const noexcept;
  void start_lanes() const;  // REQUIRES: mutex_ is held
  void run_lane() const noexcept;

  std::string name_;
  std::uint64_t size_bytes_;
  ReadAt read_at_;
  SourceHints hints_;
  std::size_t max_lanes_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable changed_;
  mutable std::deque<Request> waiting_;
  mutable std::vector<std::thread> lanes_;
  mutable std::size_t idle_lanes_ = 0;
  mutable bool stopping_ = false;
};

}  // namespace terrazzo::io
